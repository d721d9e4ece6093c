import { describe, expect, it } from "vitest";
import { parseHtml } from "./html.ts";

/** Headings with "#", rows in one line. */
const shown = (html: string): readonly string[] =>
  parseHtml(html).blocks.map((block) => {
    if (block.kind === "row") return block.cells.join(" | ");
    return block.kind === "heading" ? `# ${block.text}` : block.text;
  });
const answer = "Turn the ring below the shade until it clicks.";
const inMain = (html: string): string =>
  `<main><h1>Lamps</h1><p>All about our lamps and their parts.</p>${html}</main>`;
const head = ["# Lamps", "All about our lamps and their parts."];

describe("parts of a page", () => {
  it.each([
    [
      "a button in a heading",
      `<h2><button aria-expanded="false">Can I dim it</button></h2><div hidden><p>${answer}</p></div>`,
    ],
    [
      "a button above a closed panel",
      `<button aria-controls="a1">Can I dim it</button><section id="a1" hidden>${answer}</section>`,
    ],
    [
      "a button that toggles",
      `<div><button data-bs-toggle="collapse">Can I dim it</button></div><div class="collapse">${answer}</div>`,
    ],
    ["details", `<details><summary>Can I dim it</summary><p>${answer}</p></details>`],
    ["tabs", `<button role="tab">Can I dim it</button><div role="tabpanel" aria-hidden="true"><p>${answer}</p></div>`],
  ])("keep the question and the answer of %s", (_name, html) => {
    expect(shown(inMain(html))).toEqual([...head, "# Can I dim it", answer]);
  });

  it("keep a question in any button, and drop what only acts", () => {
    const html = `<button>Which bulb fits?</button><p>Any of six watts.</p><button>Copy</button><pre>parley start</pre>`;
    expect(shown(inMain(html))).toEqual([...head, "# Which bulb fits?", "Any of six watts.", "parley start"]);
  });

  it("keep warnings and notes beside the text, and drop advertisements and lists of links there", () => {
    const warning = "A reset deletes all your scenes and cannot be undone.";
    const links = [1, 2, 3, 4].map((n) => `<a href="/${n}">Another page about lamps ${n}</a>`).join(" ");
    const html = `<aside class="admonition warning"><p>${warning}</p></aside><aside>${links}</aside>
      <aside><p>Get ten percent off your first order today.</p><input type="email"></aside>`;
    expect(shown(inMain(html))).toEqual([...head, warning]);
    expect(shown(`<div><p>Press it for ten seconds.</p><aside class="note">${warning}</aside></div>`)).toContain(
      warning,
    );
  });

  it("keep the title of an article, and drop the header of the site", () => {
    const html = `<header><h1>Acme</h1><p>The best shop of the whole town.</p></header><article><header><h1>Oven doors</h1></header><p>Use warm water and a soft cloth.</p></article>`;
    expect(shown(html)).toEqual(["# Oven doors", "Use warm water and a soft cloth."]);
    expect(parseHtml(html).title).toBe("Oven doors");
  });

  it("keep a page within a form, and drop a form that is filled in", () => {
    const form = `<form><label>Name <input></label><label>Your message <textarea></textarea></label><button>Send</button></form>`;
    expect(shown(`<form id="aspnetForm"><input type="hidden"><h1>Islands</h1><p>Three more days.</p></form>`)).toEqual([
      "# Islands",
      "Three more days.",
    ]);
    expect(shown(inMain(form))).toEqual(head);
  });

  it("drop hidden menus, icons and dialogs", () => {
    const html = `<p>Press it <span aria-hidden="true">expand_more</span> twice.</p>
      <div hidden><a href="/1">One</a> <a href="/2">Two</a></div>
      <div aria-hidden="true">Menu</div><div role="dialog">Would you like to chat with one of our people?</div>`;
    expect(shown(inMain(html))).toEqual([...head, "Press it twice."]);
  });
});

describe("tables of a page", () => {
  const table = (rows: readonly (readonly string[])[]): string =>
    `<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</table>`;

  it("name their columns by a first row of bold words, or of words above numbers", () => {
    const named = ["Plan: Gold | Users: 40"];
    expect(
      shown(
        table([
          ["<b>Plan</b>", "<b>Users</b>"],
          ["Gold", "40"],
        ]),
      ),
    ).toEqual(named);
    expect(
      shown(
        table([
          ["Plan", "Users"],
          ["Gold", "40"],
        ]),
      ),
    ).toEqual(named);
  });

  it("have no header where the first row is like the others", () => {
    expect(
      shown(
        table([
          ["Gold", "40"],
          ["Silver", "10"],
        ]),
      ),
    ).toEqual(["Gold | 40", "Silver | 10"]);
    expect(
      shown(
        table([
          ["Opens", "early"],
          ["Closes", "late"],
        ]),
      ),
    ).toEqual(["Opens | early", "Closes | late"]);
    expect(shown(table([["Only", "row"]]))).toEqual(["Only | row"]);
  });
});
