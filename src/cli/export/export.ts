import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { systemClock as clock } from "#runtime/clock.ts";
import { exportLines } from "#admin/export/export.ts";
import type { ExportLine } from "#admin/export/rows.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { UsageError, readArguments } from "../terminal/arguments.ts";
import type { Command } from "../command.ts";
import { withServices } from "../with-services.ts";

const bufferBytes = 256 * 1_024;
const progressEvery = 10_000;

/** Writes all data of a workspace, or of one customer, as JSON Lines. */
export const exportData: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email", "contact", "out"], ["force"]);
  const workspaceId = given.required("workspace");
  const [email, contactId] = [given.optional("email"), given.optional("contact")];
  const customer = contactId !== undefined ? { contactId } : email === undefined ? undefined : { email };
  const path = given.required("out");
  if (path === "-" && output.json) throw new UsageError("--out - writes the export to stdout, where --json writes too");
  return withServices(config, async ({ store }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const target = path === "-" ? stdout() : await openFile(path, given.flag("force"));
    let lines = 0;
    let found = 0;
    try {
      let buffer: string[] = [];
      let size = 0;
      const write = async (line: ExportLine): Promise<void> => {
        const text = `${JSON.stringify(line)}\n`;
        buffer.push(text);
        size += text.length;
        if (size < bufferBytes) return;
        await target.write(buffer.join(""));
        buffer = [];
        size = 0;
      };
      for await (const line of exportLines(store, clock, workspace.id, customer)) {
        await write(line);
        lines += 1;
        if (line.type === "conversation" || line.type === "contact") found += 1;
        if (lines % progressEvery === 0) output.progress(`${lines} lines`);
      }
      await target.write(buffer.join(""));
      await target.finish();
    } catch (error) {
      await target.abandon();
      throw error;
    }
    if (customer !== undefined && found === 0) output.progress(`Nothing is held of ${contactId ?? email}.`);
    if (path === "-") output.progress(`${lines} lines`);
    else output.result({ file: path, lines }, [`Wrote ${lines} lines to ${path}, for your eyes only (mode 600).`]);
    return 0;
  });
};

interface Target {
  write(text: string): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** Writes to a temporary name; a complete file gets its final name. */
async function openFile(path: string, force: boolean): Promise<Target> {
  if (!force && (await exists(path))) throw new Error(`${path} exists already: choose another name, or add --force`);
  const partial = `${path}.partial`;
  await rm(partial, { force: true });
  let file: FileHandle;
  try {
    file = await open(partial, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    throw new Error(`${partial} cannot be written`, { cause: error });
  }
  return {
    async write(text) {
      await file.writeFile(text);
    },
    async finish() {
      await file.sync();
      await file.close();
      await rename(partial, path);
    },
    async abandon() {
      await file.close();
      await rm(partial, { force: true });
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await (await open(path, constants.O_RDONLY)).close();
    return true;
  } catch (error) {
    return (error as { readonly code?: unknown }).code !== "ENOENT";
  }
}

function stdout(): Target {
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error === undefined || error === null ? resolve() : reject(error)));
      }),
    finish: async () => undefined,
    abandon: async () => undefined,
  };
}
