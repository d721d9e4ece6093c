import { expect, it } from "vitest";
import { dialogsIn, isShownAs } from "./dialogs.ts";

it("finds the titles of dialogs, of both branches of a choice and with names in them", () => {
  const text = `
    const a = <FormDialog title={isNew ? "Add a thing" : \`Change \${name}\`} label="Save">text</FormDialog>;
    const b = <dialog aria-label="Menu" />;
    const c = <Dialog title={props.title} />;
    const d = <Section title="No dialog" />;
  `;
  const found = dialogsIn("page.tsx", text);
  expect(found).toEqual(["Add a thing", "Change …", "Menu"].map((title) => ({ file: "page.tsx", title })));
  expect(found.map((each) => isShownAs(each, "Change the key (old)?"))).toEqual([false, true, false]);
  expect(isShownAs({ file: "page.tsx", title: "Remove …?" }, "Remove it")).toBe(false);
});
