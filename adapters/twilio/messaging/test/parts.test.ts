import { describe, expect, it } from "vitest";
import type { OutboundMessage } from "#channels/contract.ts";
import { isGsm, segmentsOf } from "../gsm.ts";
import { renderParts, textMax } from "../render.ts";

const bot = (markdown: string, more: Partial<OutboundMessage> = {}): OutboundMessage => ({
  role: "assistant",
  authorName: null,
  markdown,
  sources: [],
  ...more,
});
const sms = (markdown: string, more?: Partial<OutboundMessage>) =>
  renderParts("sms", bot(markdown, more)).map(({ payload }) => (payload as { readonly body: string }).body);
const whatsapp = (markdown: string) =>
  renderParts("whatsapp", bot(markdown)).map(({ payload }) => (payload as { readonly body: string }).body);

describe("a text message", () => {
  it("has no formatting, and shows the address of each link once", () => {
    expect(sms("# Prices\n\n**5 €**, see [our *price* list](https://a.example/p) or https://a.example/q")).toEqual([
      "Prices\n\n5 €, see our price list (https://a.example/p) or https://a.example/q",
    ]);
    expect(
      sms("Write to <help@a.example> or [us](mailto:us@a.example)", {
        sources: [{ title: "Help", url: "https://a.example/h" }] as never,
      }),
    ).toEqual(["Write to help@a.example or us (us@a.example)\n\nSources:\n1. Help (https://a.example/h)"]);
  });

  it("shows what is quoted", () => {
    expect(sms("> Can I return it?\n>\n> After **two** years?\n\nNo.")).toEqual([
      "> Can I return it?\n> \n> After two years?\n\nNo.",
    ]);
  });

  it("stays in the GSM alphabet where look-alikes exist", () => {
    const [text = ""] = sms("“Don’t” – it’s 5\u00A0€…\n\n- [x] done\n- one");
    expect(text).toBe("\"Don't\" - it's 5 €...\n\n- [x] done\n- one");
    expect(isGsm(text)).toBe(true);
  });

  it("is split by the segments that telephones join", () => {
    expect(segmentsOf("x".repeat(160))).toBe(1);
    expect(segmentsOf("x".repeat(161))).toBe(2);
    expect(segmentsOf("€".repeat(80))).toBe(1);
    expect(segmentsOf("€".repeat(81))).toBe(2);
    expect(segmentsOf("ç".repeat(70))).toBe(1);
    expect(segmentsOf("😀".repeat(36))).toBe(2);
    for (const text of [
      "a word ".repeat(1_000),
      "ein Wört 😀 ".repeat(500),
      "€uro {} ".repeat(500),
      "漢".repeat(3_000),
    ]) {
      const parts = sms(text);
      for (const part of parts) {
        expect(segmentsOf(part)).toBeLessThanOrEqual(10);
        expect(part.length).toBeLessThanOrEqual(textMax);
      }
      expect(parts.join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
    }
  });

  it("uses UCS-2 only in parts that need it", () => {
    const parts = sms(`${"plain words ".repeat(200)}\n\nThe end 😀`);
    expect(parts.filter((part) => !isGsm(part))).toHaveLength(1);
    expect(parts.length).toBeLessThanOrEqual(4);
  });
});

describe("a WhatsApp message", () => {
  it("has WhatsApp's formatting, within lines and around words", () => {
    expect(whatsapp("**bold** and ***both***, `code`\n\n> **said\n> so**\n\n```\na  b\n```")).toEqual([
      "*bold* and _*both*_, `code`\n\n> *said*\n> *so*\n\n```a  b```",
    ]);
  });

  it("never exceeds Twilio's limit, with any formatting", () => {
    const text = "**a** *b* ~~c~~ ".repeat(800);
    const parts = whatsapp(text);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(textMax);
    expect(parts.join("").replaceAll(/[^abc]/g, "")).toBe("abc".repeat(800));
  });
});
