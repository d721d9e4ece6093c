import { describe, expect, it } from "vitest";
import { DeliveryError } from "#channel/errors.ts";
import { Problem } from "#domain/problem.ts";
import { bringFiles } from "../relayed-files.ts";

/** Ten bytes of each file, but of those whose place in the mailbox says otherwise. */
function world() {
  const uploads = new Map<string, string>();
  let made = 0;
  const host = {
    async upload(_thread: string, { name, mediaType }: { readonly name: string; readonly mediaType: string }) {
      if (name === "huge") throw new Problem("payload_too_large", "file: it is larger than 25 MB");
      const id = `file_${(made += 1)}`;
      uploads.set(id, name);
      return { id, name, mediaType, bytes: 10 };
    },
    dropUpload: async (_thread: string, id: string) => void uploads.delete(id),
  };
  const fetch = async (ref: string) => {
    if (ref === "gone") throw new DeliveryError("rejected", "the e-mail is not in the mailbox any more");
    if (ref === "away") throw new DeliveryError("not_sent", "the mailbox cannot be reached");
    return (async function* () {})();
  };
  const bring = (...files: readonly (readonly [name: string, ref: string])[]) =>
    bringFiles(
      { host, fetch, sentBytesMax: 25 },
      "thread",
      files.map(([name, ref]) => ({ name, ref, mediaType: "text/plain", bytes: null })),
    );
  return { uploads, bring };
}

describe("files of an agent's mail that goes on to the customer", () => {
  it("go with it as far as a mail takes them, and each that does not is told of", async () => {
    const { uploads, bring } = world();
    const brought = await bring(["a", "1"], ["huge", "2"], ["b", "3"], ["lost", "gone"], ["c", "4"]);
    expect(brought.outbound.map(({ name }) => name)).toEqual(["a", "b"]);
    // In the inbox it is all the same.
    expect(brought.stored.map(({ ref }) => uploads.get(ref))).toEqual(["a", "b", "c"]);
    expect(brought.left).toEqual([
      "huge: file: it is larger than 25 MB.",
      "lost: the e-mail is not in the mailbox any more.",
      "c is too large for it: it can be had in the inbox.",
    ]);
    await brought.drop();
    expect(uploads.size).toBe(0);
  });

  it("leave nothing behind where one of them cannot be had now", async () => {
    const { uploads, bring } = world();
    await expect(bring(["a", "1"], ["b", "away"])).rejects.toThrow("the mailbox cannot be reached");
    expect(uploads.size).toBe(0);
  });
});
