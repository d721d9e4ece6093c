import { Problem } from "#domain/problem.ts";
import type { Bodies } from "./bodies.ts";
import { parseBodies } from "./bodies.ts";
import type { App } from "#http/app-type.ts";

/** Deeper JSON has no use here, and code that walks it would run out of stack. */
const depthMax = 64;

/** Reads application/json. Other types are refused unless a route accepts them. */
export function parseJsonBodies(app: App, bodies: Bodies): void {
  app.removeAllContentTypeParsers();
  // `__proto__` stays a field like any other, to be refused where it is unknown: code behind this must not assign fields by name.
  const parse = app.getDefaultJsonParser("ignore", "ignore");
  parseBodies(app, bodies, "application/json", (request, body, done) => {
    const text = body.toString();
    // A DELETE often carries the header without a body. Routes that need a body report it later.
    if (text === "") {
      done(null, undefined);
    } else if (depthOf(text) > depthMax) {
      done(new Problem("invalid_json", `The body is nested more than ${depthMax} levels deep.`));
    } else {
      // Calls back at once, although its type allows a promise.
      void parse(request, text, done);
    }
  });
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (quoted) {
      if (code === 0x5c) i += 1;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) {
      quoted = true;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
  return deepest;
}
