import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  readonly content: string | Uint8Array;
}

/** Builds a ZIP archive with deflated entries. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const raw = Buffer.from(content);
    const deflated = deflateRawSync(raw);
    const fileName = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(raw), 10);
    common.writeUInt32LE(deflated.byteLength, 14);
    common.writeUInt32LE(raw.byteLength, 18);
    common.writeUInt16LE(fileName.byteLength, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, fileName, deflated]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), common, tail, fileName]));
    locals.push(local);
    offset += local.byteLength;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.byteLength, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const namespace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`;

/** Builds a Word file from a body in WordprocessingML. */
export function docxOf(body: string, more: readonly ZipEntry[] = []): Buffer {
  return zipOf([
    {
      name: "[Content_Types].xml",
      content: `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    },
    {
      name: "_rels/.rels",
      content: `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    },
    {
      name: "word/document.xml",
      content: `<?xml version="1.0"?><w:document ${namespace}><w:body>${body}</w:body></w:document>`,
    },
    {
      name: "word/styles.xml",
      content: `<?xml version="1.0"?><w:styles ${namespace}><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style><w:style w:type="paragraph" w:styleId="TableHeading"><w:name w:val="Table Heading"/></w:style><w:style w:type="table" w:styleId="GridTable4"><w:name w:val="Grid Table 4"/></w:style><w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/></w:style></w:styles>`,
    },
    {
      name: "word/_rels/document.xml.rels",
      content: `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`,
    },
    ...more,
  ]);
}

export const wordParagraph = (text: string, style = ""): string =>
  `<w:p>${style === "" ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

export interface PdfLine {
  readonly text: string;
  readonly size: number;
  /** The distance from the lower edge of the page, in points. */
  readonly y: number;
  /** The distance from the left edge; default: 50. */
  readonly x?: number;
  readonly isBold?: boolean;
}

/** Builds a PDF with these pages, in Helvetica. `trailer`: further entries of its trailer dictionary. */
export function pdfOf(pages: readonly (readonly PdfLine[])[], trailer = ""): Buffer {
  const objects: string[] = [
    "",
    "",
    ...["Helvetica", "Helvetica-Bold"].map((name) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} >>`),
  ];
  const kids: string[] = [];
  for (const lines of pages) {
    const show = ({ text, size, y, x = 50, isBold = false }: PdfLine): string =>
      `BT /F${isBold ? 2 : 1} ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text.replaceAll(/[()\\]/g, "\\$&")}) Tj ET`;
    const content = lines.map(show).join("\n");
    objects.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    const contents = objects.length;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${contents} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>`,
    );
    kids.push(`${objects.length} 0 R`);
  }
  objects[0] = "<< /Type /Catalog /Pages 2 0 R >>";
  objects[1] = `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${kids.length} >>`;
  const parts: string[] = ["%PDF-1.4\n"];
  let offset = 9;
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    const text = `${index + 1} 0 obj\n${object}\nendobj\n`;
    offsets.push(offset);
    offset += text.length;
    parts.push(text);
  }
  const entries = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${offset}\n%%EOF\n`,
  );
  return Buffer.from(parts.join(""), "latin1");
}
