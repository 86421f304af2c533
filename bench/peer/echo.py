"""Types into `cat` in a bare pseudoterminal, and prints the time until each echo, in milliseconds."""

import os
import pty
import sys
import time

pid, master = pty.fork()
if pid == 0:
    os.execvp("cat", ["cat"])
os.write(master, b"ready\n")
seen = b""
while seen.count(b"ready") < 2:
    seen += os.read(master, 4096)
for _ in range(int(sys.argv[1])):
    begin = time.perf_counter()
    os.write(master, b"k")
    os.read(master, 4096)
    print((time.perf_counter() - begin) * 1000)
    time.sleep(0.002)
os.close(master)
