"""Looks for texts in everything that a program in a sandbox can read. They come in base64, so as not to find itself."""

import base64
import os
import sys

wanted = [base64.b64decode(text) for text in sys.argv[1:]]
searched, found = 0, []


def look(path):
    global searched
    try:
        with open(path, "rb") as file:
            content = file.read(32 * 1024 * 1024)
    except OSError:
        return
    searched += 1
    if any(text in content for text in wanted):
        found.append(path)


for folder in ["/home/agent", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc"]:
    for root, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(root, name)
            if os.path.isfile(path) and not os.path.islink(path):
                look(path)
for process in filter(str.isdigit, os.listdir("/proc")):
    for name in ["environ", "cmdline"]:
        look(f"/proc/{process}/{name}")
print("searched enough" if searched > 50 else f"searched only {searched}", "and found", found)
