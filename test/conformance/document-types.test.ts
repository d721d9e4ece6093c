import { expect, it } from "vitest";
import { eachContract, idPattern } from "../support/http/contract.ts";

/** A page with one line of text. */
function pdf(line: string): string {
  const content = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const at of offsets) text += `${String(at).padStart(10, "0")} 00000 n \n`;
  return `${text}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
}

eachContract("4.9 more kinds of documents", (at) => {
  const upload = async (name: string, content: string) => {
    const client = await at.fresh();
    const form = new FormData();
    form.append("file", new Blob([content]), name);
    const { status, body } = await client.post("/v1/documents/upload", form);
    expect(status).toBe(202);
    const document = async () => (await client.get(`/v1/documents/${body.document.id}`)).body.document;
    await expect.poll(async () => (await document()).status).toMatch(/indexed|failed/);
    return { client, document: await document() };
  };

  it.each([
    ["guide.csv", "country,capital\nElbonia,Mudville\n"],
    ["guide.json", '{"title":"Guide","text":"The capital of Elbonia is Mudville."}'],
    ["guide.pdf", pdf("The capital of Elbonia is Mudville.")],
  ])("4.9 accepts %s and answers from it", async (name, content) => {
    const { client, document } = await upload(name, content);
    expect(document).toMatchObject({ status: "indexed", error: null });
    const { body } = await client.ask({ query: "What is the capital of Elbonia?" });
    expect(body.sources.map((source) => Reflect.get(source, "chunk") as string).join()).toContain("Mudville");
  });

  it.each([
    ["broken.pdf", "%PDF-1.4 nonsense"],
    ["broken.docx", "PK\u0003\u0004 nonsense"],
    ["broken.json", "{"],
  ])("4.9 marks %s, which cannot be read, as failed with the reason", async (name, content) => {
    const { document } = await upload(name, content);
    expect(document).toMatchObject({ status: "failed", error: expect.stringMatching(/\S/) });
  });

  it("4.9 answers 202 to a crawl, with the current document", async () => {
    const { status, body } = await at.client.post("/v1/documents/crawl", { url: "https://docs.example.invalid/start" });
    expect([status, body.document]).toMatchObject([
      202,
      { id: expect.stringMatching(idPattern("doc")), workspace_id: at.client.id, source: "crawl" },
    ]);
  });

  it.each([
    [400, "missing_field", {}],
    [400, "missing_field", { url: null }],
    [422, "invalid_parameter", { url: "" }],
    [422, "invalid_parameter", { url: 5 }],
    [422, "invalid_parameter", { url: "nonsense" }],
    [422, "invalid_parameter", { url: "ftp://docs.example.invalid/" }],
    [422, "invalid_parameter", { url: "https://docs.example.invalid/", max_pages: 0 }],
    [400, "invalid_workspace_id", { url: "https://docs.example.invalid/", workspace_id: "x" }],
  ])("4.9 answers %i %s to the crawl %j", async (status, code, body) => {
    const answered = await at.client.post("/v1/documents/crawl", body);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
  });

  it.each(["http://127.0.0.1:1/", "http://169.254.169.254/latest/", "http://[::1]:1/", "http://localhost:1/"])(
    "4.9 crawls public addresses only: %s",
    async (url) => {
      const { status, body } = await at.client.post("/v1/documents/crawl", { url });
      if (status === 202) {
        const document = async () => (await at.client.get(`/v1/documents/${body.document.id}`)).body.document;
        await expect.poll(async () => (await document()).status).toBe("failed");
        expect(await document()).toMatchObject({ error: expect.stringMatching(/\S/) });
      } else {
        expect([status, body.code]).toEqual([422, "invalid_parameter"]);
      }
    },
  );

  it("4.9 answers 404 to a recrawl of an unknown document", async () => {
    const { status, body } = await at.client.post("/v1/documents/doc_none/recrawl", {});
    expect([status, body.code]).toEqual([404, "document_not_found"]);
  });
});
