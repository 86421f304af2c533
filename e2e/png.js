// Reading the pixels of a PNG, as far as our pictures need it: eight bits of red, green and blue, not interlaced.
import { inflateSync } from "node:zlib";

export class Picture {
  constructor(png) {
    this.width = png.readUInt32BE(16);
    this.height = png.readUInt32BE(20);
    this.depth = { 2: 3, 6: 4 }[png[25]];
    if (png[24] !== 8 || !this.depth) throw new Error("a PNG of another kind");
    const pieces = [];
    for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
      const end = at + 8 + png.readUInt32BE(at);
      if (png.toString("latin1", at + 4, at + 8) === "IDAT") pieces.push(png.subarray(at + 8, end));
    }
    this.bytes = this.unfilter(inflateSync(Buffer.concat(pieces)));
  }

  /** Red, green and blue. */
  pixel(x, y) {
    const at = (y * this.width + x) * this.depth;
    return [...this.bytes.subarray(at, at + 3)];
  }

  unfilter(lines) {
    const { depth } = this;
    const length = this.width * depth;
    const bytes = Buffer.alloc(length * this.height);
    for (let y = 0; y < this.height; y += 1) {
      const filter = lines[y * (length + 1)];
      for (let x = 0; x < length; x += 1) {
        const at = y * length + x;
        const left = x >= depth ? bytes[at - depth] : 0;
        const up = y > 0 ? bytes[at - length] : 0;
        const corner = x >= depth && y > 0 ? bytes[at - length - depth] : 0;
        const guess = [0, left, up, (left + up) >> 1, nearest(left, up, corner)][filter];
        bytes[at] = lines[at + y + 1] + guess;
      }
    }
    return bytes;
  }
}

/** Whichever is nearest to what the three lead one to expect. */
function nearest(left, up, corner) {
  const expected = left + up - corner;
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(expected - value));
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
