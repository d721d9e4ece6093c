import { describe, expect, it } from "vitest";
import { htmlPictures, htmlText } from "./html-text.ts";

/** A megabyte of it, which the program reads while everybody else waits. */
const megabyteOf = (piece: string): string => piece.repeat(Math.ceil(1_000_000 / piece.length));

// Were one of these read in a time that grows with its depth, the test would not end in time.
describe("HTML of an e-mail", () => {
  it("is read to its end with hundreds of thousands of unclosed tags", () => {
    for (const piece of ["<b>", "<div><table><tr><td><b>", "<blockquote>"]) {
      expect(htmlText(`${megabyteOf(piece)}<p>The question.</p>`).text).toBe("The question.");
    }
    expect(htmlPictures(`${megabyteOf("<div>")}<img src="cid:lamp">`)).toEqual(["cid:lamp"]);
  });

  it("is read to its end with a line that grows in hundreds of thousands of steps", () => {
    expect(htmlText(megabyteOf("</i>x")).text).toMatch(/^x{200000,}$/);
  });
});
