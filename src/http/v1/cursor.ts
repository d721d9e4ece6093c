import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import type { Static, TSchema } from "typebox";
import { Check } from "typebox/value";
import { Problem } from "#domain/problem.ts";

const macBytes = 16;
const cursorCharsMax = 1_000;

/**
 * Opaque positions in lists: `cur_`, the position as JSON in base64url, and a signature that also covers what list it
 * was issued for, so that a cursor cannot be made up, changed, or used with other filters.
 */
export interface Cursors<P extends TSchema> {
  issue(list: unknown, position: Static<P>): string;
  /** Throws Problem invalid_cursor. */
  read(list: unknown, cursor: string): Static<P>;
}

export function createCursors<P extends TSchema>(key: Buffer, kind: string, schema: P): Cursors<P> {
  const secret = createSecretKey(key);
  // None of the three has a line break of its own.
  const mac = (list: unknown, payload: string): Buffer =>
    createHmac("sha256", secret)
      .update(`${kind}\n${JSON.stringify(list)}\n${payload}`)
      .digest()
      .subarray(0, macBytes);

  return {
    issue(list, position) {
      const payload = JSON.stringify(position);
      return `cur_${Buffer.concat([mac(list, payload), Buffer.from(payload)]).toString("base64url")}`;
    },
    read(list, cursor) {
      const invalid = (): Problem =>
        new Problem("invalid_cursor", "cursor must be a next_cursor of this list, with the same filters.");
      if (!/^cur_[A-Za-z0-9_-]+$/.test(cursor) || cursor.length > cursorCharsMax) throw invalid();
      const bytes = Buffer.from(cursor.slice(4), "base64url");
      if (bytes.length <= macBytes || `cur_${bytes.toString("base64url")}` !== cursor) throw invalid();
      const payload = bytes.subarray(macBytes).toString();
      if (!timingSafeEqual(bytes.subarray(0, macBytes), mac(list, payload))) throw invalid();
      const position: unknown = JSON.parse(payload);
      if (!Check(schema, position)) throw invalid();
      return position;
    },
  };
}

/** After the last row of a page, or after the end of an empty list. */
export const listPosition = Type.Union([
  Type.Object({ at: Type.Number(), id: Type.String() }),
  Type.Object({ end: Type.Literal(true) }),
]);
