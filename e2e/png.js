// Reads the pixels of a PNG.
import { PNG } from "pngjs";

export class Picture {
  constructor(png) {
    const { width, height, data } = PNG.sync.read(png);
    this.width = width;
    this.height = height;
    // Red, green, blue and alpha, from the highest byte to the lowest.
    this.pixels = new DataView(data.buffer, data.byteOffset, data.length);
  }

  /** Returns true if the pixel has this colour. A pixel outside the picture has none. */
  is(x, y, [red, green, blue]) {
    return x >= 0 && y >= 0 && this.number(x, y) === (red << 16) + (green << 8) + blue;
  }

  number(x, y) {
    return this.pixels.getUint32((y * this.width + x) * 4) >>> 8;
  }
}
