// PDFs that are invented, of so many pages with a few words each: as they are, and with all objects in packed streams.
import { deflateSync } from "node:zlib";

/** A PDF whose objects stand in the file as they are. */
export function plainPdf(pages: number): Uint8Array {
  const objects = objectsOf(pages).map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  return Buffer.from(`%PDF-1.4\n${objects.join("")}trailer << /Root 1 0 R >>\n%%EOF`, "latin1");
}

/** A PDF as newer programs write it: its objects are in streams of at most 50, packed. */
export function packedPdf(pages: number): Uint8Array {
  const objects = objectsOf(pages);
  const parts = [Buffer.from("%PDF-1.5\n", "latin1")];
  for (let from = 0; from < objects.length; from += 50) {
    const some = objects.slice(from, from + 50);
    const packed = deflateSync(some.join("\n"));
    const dictionary = `<< /Type /ObjStm /N ${some.length} /First 0 /Length ${packed.length} /Filter /FlateDecode >>`;
    parts.push(Buffer.from(`${from + 1000} 0 obj\n${dictionary}\nstream\r\n`, "latin1"), packed);
    parts.push(Buffer.from("\nendstream\nendobj\n", "latin1"));
  }
  return Buffer.concat([...parts, Buffer.from("startxref\n0\n%%EOF", "latin1")]);
}

function objectsOf(pages: number): readonly string[] {
  const kids = Array.from({ length: pages }, (_, at) => `${at + 3} 0 R`);
  return [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${pages} >>`,
    ...kids.map((_, at) => `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Label (Page ${at + 1}) >>`),
  ];
}
