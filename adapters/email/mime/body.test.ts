import * as fc from "fast-check";
import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/support/tier.ts";
import { filesOf } from "../inbound/files.ts";
import { baseSubject, messageText } from "../inbound/text.ts";
import { readMail } from "./parse.ts";

const crlf = "\r\n";

/** A part with its headers. */
const part = (headers: readonly string[], body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from([...headers, "", ""].join(crlf)), typeof body === "string" ? Buffer.from(body) : body]);

let boundaries = 0;
function multipart(kind: string, parts: readonly Buffer[], more = ""): Buffer {
  const boundary = `boundary-${(boundaries += 1)}`;
  const chunks = parts.flatMap((each) => [Buffer.from(`--${boundary}${crlf}`), each, Buffer.from(crlf)]);
  return part(
    [`Content-Type: multipart/${kind}; boundary="${boundary}"${more}`],
    Buffer.concat([...chunks, Buffer.from(`--${boundary}--${crlf}`)]),
  );
}

async function messageOf(content: Buffer, headers: readonly string[] = []) {
  const head = ["From: Ada <ada@people.example>", "To: help@shop.example", "Subject: Question", ...headers, ""].join(
    crlf,
  );
  const raw = Buffer.concat([Buffer.from(head), content]);
  const mail = await readMail({ raw, bytes: raw.length });
  const { text } = messageText(mail, { begins: false, takesForwarded: true });
  return { text, files: mail.attachments.map(({ name }) => name), mail };
}

const plain = (text: string): Buffer => part(["Content-Type: text/plain; charset=utf-8"], text);
const html = (text: string): Buffer => part(["Content-Type: text/html; charset=utf-8"], `<p>${text}</p>`);
const png = (name: string, more: readonly string[] = []): Buffer =>
  part(
    [`Content-Type: image/png; name="${name}"`, "Content-Transfer-Encoding: base64", ...more],
    "iVBORw0KGgo=".repeat(40),
  );

describe("the text of a mail", () => {
  const sentence = "Ménage à trois lampes: est-ce possible?";

  /** A text part that holds these words, in any form that a mail program may choose. */
  function textPart(words: string): fc.Arbitrary<Buffer> {
    return fc
      .record({
        isHtml: fc.boolean(),
        charset: fc.constantFrom("utf-8", "iso-8859-1", "windows-1252", "UTF-16LE"),
        encoding: fc.constantFrom("8bit", "base64", "quoted-printable"),
        isInline: fc.boolean(),
      })
      .map(({ isHtml, charset, encoding, isInline }) => {
        const bytes = iconv.encode(isHtml ? `<div>${words}</div>` : words, charset);
        const safe = charset === "UTF-16LE" && encoding === "8bit" ? "base64" : encoding;
        const coded =
          safe === "base64"
            ? bytes.toString("base64")
            : safe === "8bit"
              ? bytes
              : [...bytes]
                  .map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, "0")}`)
                  .join("")
                  .replaceAll(/(.{72})/g, `$1=${crlf}`);
        const headers = [
          `Content-Type: text/${isHtml ? "html" : "plain"}; charset=${charset}`,
          `Content-Transfer-Encoding: ${safe}`,
          ...(isInline ? ["Content-Disposition: inline"] : []),
        ];
        return part(headers, coded);
      });
  }
  const file = fc.constantFrom(
    png("photo.png"),
    png("photo.png", ["Content-Disposition: inline"]),
    part(['Content-Type: text/plain; name="log.txt"'], "2026 worker: refused"),
    part(["Content-Type: application/pdf", 'Content-Disposition: attachment; filename="a.pdf"'], "%PDF-1.4"),
  );
  const footer = fc.constantFrom(plain("This mail was scanned."), html("Sent from a phone"), plain(""));
  const stub = plain("This message is in HTML. Please use another program.");

  /** A tree with the sentence at one place that a reader sees. */
  const tree: fc.Arbitrary<Buffer> = fc.letrec<{ node: Buffer; holder: Buffer }>((tie) => ({
    holder: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      textPart(sentence),
      fc
        .tuple(
          fc.array(fc.oneof(file, footer), { maxLength: 2 }),
          tie("holder"),
          fc.array(fc.oneof(file, footer), { maxLength: 2 }),
        )
        .map(([before, holder, after]) => multipart("mixed", [...before, holder, ...after])),
      fc
        .tuple(textPart(sentence), fc.array(file, { maxLength: 2 }))
        .map(([holder, files]) => multipart("related", [holder, ...files])),
      tie("holder").map((holder) =>
        multipart("signed", [holder, part(["Content-Type: application/pgp-signature"], "signature")]),
      ),
      fc.tuple(textPart(sentence), textPart(sentence)).map((both) => multipart("alternative", both)),
      fc
        .array(file, { maxLength: 1 })
        .map((files) => multipart("alternative", [stub, multipart("related", [html(sentence), ...files])])),
    ),
    node: tie("holder"),
  })).node;

  /** White space behind each delimiter. */
  const padded = (content: string): string => content.replaceAll(/^(--boundary-\d+(?:--)?)\r$/gm, "$1 \t\r");
  /** The multiparts within another end where that goes on. */
  const unended = (content: string): string => content.replaceAll(/^--boundary-\d+--\r\n(?=\r\n--boundary)/gm, "");
  const forms = fc.constantFrom(
    (content: string) => content,
    padded,
    unended,
    (all: string) => padded(unended(all)),
  );

  it("holds the customer's sentence once, and no delimiter, wherever it stands in the tree", async () => {
    await fc.assert(
      fc.asyncProperty(tree, forms, async (content, form) => {
        const given = Buffer.from(form(content.toString("latin1")), "latin1");
        const { text } = await messageOf(given, ["MIME-Version: 1.0"]);
        expect(text.split(sentence).length - 1, text).toBe(1);
        expect(text).not.toContain("--boundary");
      }),
      { numRuns: 300, ...seeded },
    );
  });

  it("joins parts beside each other in their order", async () => {
    const content = multipart("mixed", [
      html("The lamp is broken."),
      png("lamp.png"),
      html("Can I send it back?"),
      plain("-- \nAda"),
    ]);
    const { text, files } = await messageOf(content);
    expect(text).toBe("The lamp is broken.\n\nCan I send it back?");
    expect(files).toEqual(["lamp.png"]);
  });

  it("is the plain alternative, unless that only stands in for HTML", async () => {
    const both = (first: string, second: string) => multipart("alternative", [plain(first), html(second)]);
    expect((await messageOf(both("As *plain* text", "As <b>plain</b> text"))).text).toBe("As *plain* text");
    expect((await messageOf(both("Please view this e-mail in a browser.", "Where is my lamp?"))).text).toBe(
      "Where is my lamp?",
    );
    expect((await messageOf(both("Zur Webversion: https://shop.example/7", "Wo ist die Lampe?"))).text).toBe(
      "Wo ist die Lampe?",
    );
    expect((await messageOf(both("このメールをブラウザで見る", "ランプはどこですか"))).text).toBe("ランプはどこですか");
    expect((await messageOf(both("Where is my lamp?", '<img src="cid:lamp">'))).text).toBe("Where is my lamp?");
    expect((await messageOf(both("Hi", "Hi, where is the lamp that I have ordered?"))).text).toBe(
      "Hi, where is the lamp that I have ordered?",
    );
    expect((await messageOf(both("Does it read HTML?", "Does it read HTML?"))).text).toBe("Does it read HTML?");
  });

  it("leaves named parts to the files", async () => {
    const log = part(
      ['Content-Type: text/plain; name="hub.log"', "Content-Disposition: inline"],
      "I want to talk to a human",
    );
    const { text, files } = await messageOf(multipart("mixed", [plain("It does not start."), log]));
    expect([text, files]).toEqual(["It does not start.", ["hub.log"]]);
  });

  it("holds an attached mail, which is a file too", async () => {
    const attached = part(
      ["Content-Type: message/rfc822"],
      ["From: Courier <news@courier.example>", "Subject: Your parcel", "", "It was given to a neighbour."].join(crlf),
    );
    const { text, files } = await messageOf(multipart("mixed", [plain("Where is it?"), attached]));
    expect(text).toContain("Where is it?");
    expect(text).toContain("From: Courier <news@courier.example>");
    expect(text).toContain("It was given to a neighbour.");
    expect(files).toEqual(["mail-1.eml"]);
  });

  it("holds an invitation: its title, its time with the zone, its place and its description", async () => {
    const calendar = [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "METHOD:REQUEST",
      "BEGIN:VEVENT",
      "UID:1",
      "DTSTART;TZID=Europe/Berlin:20310514T140000",
      "DTEND;TZID=Europe/Berlin:20310514T143000",
      "SUMMARY:Repair of the lamp",
      "LOCATION:Workshop\\, first floor",
      "DESCRIPTION:Please bring a bulb.",
      "END:VEVENT",
      "END:VCALENDAR",
    ].join(crlf);
    const { text, files } = await messageOf(part(["Content-Type: text/calendar; method=REQUEST"], calendar));
    expect(text).toBe(
      "Invitation: Repair of the lamp\nWhen: 2031-05-14 14:00 Europe/Berlin to 2031-05-14 14:30 Europe/Berlin\nWhere: Workshop, first floor\n\nPlease bring a bulb.",
    );
    expect(files).toEqual(["invite.ics"]);
  });

  it("takes pictures out that the HTML holds, before anything is cut", async () => {
    const picture = `<img src="data:image/png;base64,${"A".repeat(2_000_000)}">`;
    const { text, mail } = await messageOf(html(`Here it is: ${picture} What does it mean?`));
    expect(text.replaceAll(/\s+/g, " ")).toBe("Here it is: What does it mean?");
    expect(mail.attachments).toMatchObject([
      { name: "picture-1.png", mediaType: "image/png", bytes: 1_500_000, nth: 0 },
    ]);
  });

  it("is found behind a type in wrong syntax", async () => {
    const words = "Größe M fehlt.";
    const types = ["text/plain charset=utf-8", "text; charset=utf-8", "plain/text", "text/plain, charset=utf-8"];
    for (const type of [...types, "text/plain/html"]) {
      const { text, files } = await messageOf(
        multipart("mixed", [part([`Content-Type: ${type}`], words), png("coat.png")]),
      );
      expect([text, files], type).toEqual([words, ["coat.png"]]);
    }
    const { text } = await messageOf(part(["Content-Type: html/text; charset=utf-8"], `<p>${words}</p>`));
    expect(text).toBe(words);
    const koi8 = part(["Content-Type: text/plain charset=koi8-r"], iconv.encode("Где она?", "koi8-r"));
    expect((await messageOf(koi8)).text).toBe("Где она?");
  });

  it("holds the mails of a digest, whose type is not named", async () => {
    const mails = ["It is broken.", "It is late."].map((words) =>
      part([""], ["From: Ada <ada@people.example>", "Subject: Lamp", "", words].join(crlf)).subarray(2),
    );
    const { text, files } = await messageOf(multipart("digest", mails));
    expect(text).toContain("It is broken.");
    expect(text).toContain("It is late.");
    expect(files).toEqual(["mail-1.eml", "mail-2.eml"]);
  });

  it("has drawings that the HTML holds as text, and small files that it refers to", async () => {
    const drawing = `<svg xmlns='http://www.w3.org/2000/svg'><text>Größe</text></svg>`;
    const { text, mail } = await messageOf(
      html(`Here: <img src="data:image/svg+xml;utf8,${drawing}"> <img src='data:image/svg+xml,%3Csvg/%3E'>. Why?`),
    );
    expect(text.replaceAll(/\s+/g, " ")).toBe("Here: . Why?");
    expect(mail.attachments).toMatchObject([
      { name: "picture-1.svg", mediaType: "image/svg+xml", bytes: Buffer.byteLength(drawing) },
      { name: "picture-2.svg", bytes: 6 },
    ]);
    const large = `<svg>${"<g/>".repeat(5_000_000)}</svg>`;
    const { text: beside } = await messageOf(html(`Here: <img src="data:image/svg+xml,${large}"> Why?`));
    expect(beside.replaceAll(/\s+/g, " ")).toBe("Here: Why?");
    const list = part(
      ['Content-Type: text/csv; name="sizes.csv"', "Content-ID: <1>", "Content-Disposition: inline"],
      "S;M",
    );
    const { mail: withList } = await messageOf(multipart("related", [html("The list"), list]));
    const place = { folder: "INBOX", uidValidity: "1", uid: 1, receivedAt: 0, sent: false };
    expect(filesOf(withList, place).files.map(({ name }) => name)).toEqual(["sizes.csv"]);
  });

  it("is readable where its charset is named wrongly, or by the HTML alone", async () => {
    const polish = "Gdzie jest moja paczka? Zażółć gęślą jaźń.";
    const head = '<html><head><meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"></head>';
    const cases = [
      ["text/html", `${head}<p>${polish}</p>`, "iso-8859-2", polish],
      ["text/plain; charset=x-user-defined", "Wo ist das Päckchen?", "utf-8", "Wo ist das Päckchen?"],
      ["text/plain; charset=binary", "Où est le colis?", "windows-1252", "Où est le colis?"],
      ["text/plain; charset=utf-16", "Wo ist das Päckchen?", "utf-8", "Wo ist das Päckchen?"],
      ["text/plain; charset=ucs-2", "Où est le colis?", "windows-1252", "Où est le colis?"],
      ["text/plain; charset=utf-16le", "Où est le colis?", "utf-16le", "Où est le colis?"],
    ] as const;
    for (const [type, words, charset, expected] of cases) {
      const { text } = await messageOf(part([`Content-Type: ${type}`], iconv.encode(words, charset)));
      expect(text, type).toBe(expected);
    }
  });

  it("is no stand-in for HTML that the mail program could not show", async () => {
    const stubs = [
      "Your e-mail program cannot display this message.",
      "Please enable viewing of rich text.",
      "Su programa de correo no puede mostrar este mensaje.",
      "Ihr Programm kann diese Nachricht nicht anzeigen.",
      "Este mensaje debe verse en un navegador.",
    ];
    for (const words of stubs) {
      const both = multipart("alternative", [plain(words), html("Where is the lamp?")]);
      expect((await messageOf(both)).text).toBe("Where is the lamp?");
    }
  });

  it("is readable where its charset is not named", async () => {
    const cases = [
      ["Где моя посылка? Она должна была прийти вчера.", "koi8-r", ""],
      ["我的包裹在哪里?我想退货。", "gb18030", "Subject: =?GB18030?B?zcu79Q==?="],
      ["Où est le colis?", "windows-1252", ""],
      ["Wo ist das Päckchen?", "utf-8", ""],
    ] as const;
    for (const [words, charset, header] of cases) {
      const content = part(["Content-Type: text/plain"], iconv.encode(words, charset));
      const raw = Buffer.concat([
        Buffer.from(`From: ada@people.example\r\n${header === "" ? "" : `${header}\r\n`}`),
        content,
      ]);
      const mail = await readMail({ raw, bytes: raw.length });
      expect(mail.texts.map(({ text }) => text)).toEqual([words]);
    }
  });
});

it("is named without the marks of replies and forwards of any mail program", () => {
  for (const mark of ["Re: ", "Antwort: ", "RES: ", "Réf : ", "回复:", "AW: WG: ", "SV: Re[2]: ", "转发:"]) {
    expect(baseSubject(`${mark}Lamp`)).toBe("Lamp");
  }
  expect(baseSubject("Resolution: 4k or 8k?")).toBe("Resolution: 4k or 8k?");
});
