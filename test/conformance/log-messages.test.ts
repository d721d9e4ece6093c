import { parseSync, Visitor } from "oxc-parser";
import { expect, it } from "vitest";
import { readSourceTree } from "../support/project/source-tree.ts";

const levels: ReadonlySet<string> = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);
const form = /^[a-z][a-z0-9-]*: \S/;

/** The messages of a program's log calls; null for one that is built elsewhere. */
function messagesOf(path: string, text: string): readonly { readonly line: number; readonly message: string | null }[] {
  const found: { line: number; message: string | null }[] = [];
  const isLog = (node: unknown): boolean => {
    const { type, name, property } = node as { type: string; name?: string; property?: { name?: string } };
    return type === "Identifier" ? name === "log" : type === "MemberExpression" && property?.name === "log";
  };
  new Visitor({
    CallExpression({ callee, arguments: given, start }) {
      if (callee.type !== "MemberExpression") return;
      const called = callee.property.type === "Identifier" ? callee.property.name : "";
      const isDirect = isLog(callee.object) && (callee.computed || levels.has(called));
      const isBound = called === "call" && given[0] !== undefined && isLog(given[0]);
      if (!isDirect && !isBound) return;
      const message = given[isBound ? 2 : 1];
      const words = message?.type === "Literal" ? message.value : undefined;
      found.push({ line: text.slice(0, start).split("\n").length, message: typeof words === "string" ? words : null });
    },
  }).visit(parseSync(path, text).program);
  return found;
}

it("names component and event in every log message, with everything else as fields", () => {
  const calls = readSourceTree()
    .filter(({ path }) => /^(?:src|adapters)\//.test(path) && !/\/(?:test|browser)\/|\.test\.ts$/.test(path))
    .flatMap(({ path, text }) => messagesOf(path, text).map((call) => ({ path, ...call })));
  expect(calls.length).toBeGreaterThan(100);
  expect(calls.filter(({ message }) => message === null || !form.test(message))).toEqual([]);
});

it("finds log messages of another form", () => {
  const text = `log.warn({}, "it failed");
host.log.info({}, \`mail: \${why}\`);
tell.call(log, {}, "this too");
log[level]({}, "and this");
log.warn({}, "mail: sent");`;
  expect(messagesOf("example.ts", text).map(({ message }) => message)).toEqual([
    "it failed",
    null,
    "this too",
    "and this",
    "mail: sent",
  ]);
});
