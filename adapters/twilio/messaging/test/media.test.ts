import { describe, expect, it } from "vitest";
import { fileBytesMaxOf, mediaOf } from "../media.ts";
import { renderParts } from "../render.ts";
import type { TwilioPart } from "../render.ts";
import { settingsOf } from "../config.ts";

const account = { account_sid: `AC${"0".repeat(32)}`, auth_token: "0".repeat(32) };
const fileLink = (id: string, lifetimeMs: number): string => `https://help.example/files/${id}.${lifetimeMs}`;
const dayMs = 86_400_000;

describe("a file of an agent", () => {
  it("is sent within a text message where carriers support it, and as a link elsewhere", () => {
    expect(fileBytesMaxOf(settingsOf("sms", { ...account, from: "+15551234567" }))).toBe(5 * 1_048_576);
    expect(fileBytesMaxOf(settingsOf("sms", { ...account, from: "+4915112345678" }))).toBeUndefined();
    expect(fileBytesMaxOf(settingsOf("sms", { ...account, from: "72345" }))).toBeUndefined();
    expect(fileBytesMaxOf(settingsOf("sms", { ...account, from: "72345", mms: true }))).toBe(5 * 1_048_576);
    expect(fileBytesMaxOf(settingsOf("sms", { ...account, from: "+15551234567", mms: false }))).toBeUndefined();
    expect(fileBytesMaxOf(settingsOf("whatsapp", { ...account, from: "+4915112345678" }))).toBe(16 * 1_048_576);
    expect(() => settingsOf("whatsapp", { ...account, from: "+4915112345678", mms: true })).toThrow("channel sms");
  });

  it("is a message of its own below the text, with its name", () => {
    const file = { id: "file_1", name: "Bill.pdf", mediaType: "application/pdf", bytes: 10 };
    const message = { role: "agent", authorName: "Anna", sources: [] } as const;
    const bodies = (markdown: string) =>
      renderParts("sms", { ...message, markdown, files: [file] }).map(({ payload }) => (payload as TwilioPart).body);
    expect(bodies("Here it is")).toEqual(["Anna:\nHere it is", "Bill.pdf"]);
    expect(bodies("")).toEqual(["Bill.pdf"]);
  });

  it("of an unsupported type is a link that works for a month", () => {
    const part = (mediaType: string): TwilioPart => ({ body: "Bill", media: { id: "file_1", mediaType } });
    for (const channel of ["sms", "whatsapp"] as const) {
      const settings = { channel };
      expect(mediaOf(settings, part("application/zip"), { fileLink })).toEqual({
        asText: `Bill\nhttps://help.example/files/file_1.${30 * dayMs}`,
      });
      expect(mediaOf(settings, part("image/png"), { fileLink })?.url).toBe(
        `https://help.example/files/file_1.${dayMs / 2}`,
      );
      expect(mediaOf(settings, { body: "Hello" }, { fileLink })).toBeUndefined();
    }
  });
});
