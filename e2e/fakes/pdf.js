// Small PDF documents.

/** Returns a document with a line of text on each page. */
export function pdf(lines) {
  const pages = lines.map((_, at) => 4 + 2 * at);
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages.map((number) => `${number} 0 R`).join(" ")}] /Count ${lines.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  lines.forEach((line, at) => {
    const text = `BT /F1 32 Tf 60 700 Td (${line}) Tj ET`;
    const font = "/Resources << /Font << /F1 3 0 R >> >>";
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] ${font} /Contents ${pages[at] + 1} 0 R >>`,
      `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    );
  });
  let document = "%PDF-1.4\n";
  const offsets = objects.map((object, at) => {
    const offset = document.length;
    document += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${document.length}\n%%EOF\n`;
  return Buffer.from(`${document}xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`);
}
