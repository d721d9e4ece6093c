import { counted } from "#domain/plural.ts";
import { parseInstant } from "#domain/instant.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { systemClock as clock } from "#runtime/clock.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { requireDeletable } from "#admin/workspaces/workspaces.ts";
import { readAudit } from "#admin/audit-log.ts";
import { showContact } from "#admin/customers.ts";
import { customerOf } from "#database/queries/customers.ts";
import { UsageError, readArguments } from "./terminal/arguments.ts";
import type { Command } from "./command.ts";
import { confirmed } from "./terminal/confirm.ts";
import { withServices } from "./with-services.ts";
import { bold, dim, table } from "./terminal/output.ts";

const operator: Actor = { type: "system", id: "command line", name: null };
const auditLinesStandard = 1_000;
const auditLinesMax = 100_000;

export const contactShow: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email"]);
  const workspaceId = given.required("workspace");
  const [id, ...rest] = given.words;
  const email = given.optional("email");
  if ((id === undefined) === (email === undefined) || rest.length > 0)
    throw new UsageError("use: parley contact show --workspace W ID, or --email E instead of ID");
  return withServices(config, async ({ store }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const contacts = await showContact(store, workspace.id, id === undefined ? { email: email ?? "" } : { id });
    const lines = contacts.flatMap((contact) => [
      bold(contact.id) + (contact.merged_into === null ? "" : ` merged into ${contact.merged_into}`),
      [contact.name, contact.email, contact.phone].map((each) => each ?? "–").join(" · "),
      ...contact.identities.map(({ kind, value, verified }) => dim(`  ${kind}: ${value}${verified ? " ✓" : ""}`)),
      ...contact.conversations.map((row) => `  ${row.id}  ${row.channel}  ${row.status}  ${row.started_at}`),
      "",
    ]);
    output.result(contacts, lines);
    return 0;
  });
};

export const contactMerge: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace"]);
  const workspaceId = given.required("workspace");
  const [from, into, ...rest] = given.words;
  if (from === undefined || into === undefined || rest.length > 0)
    throw new UsageError("use: parley contact merge --workspace W FROM INTO");
  return withServices(config, async ({ store, customers }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const merged = await customers.merge(workspace.id, from, into, operator);
    output.result(merged, [
      `${merged.into} now stands for ${merged.from} too.`,
      `To undo it: parley contact unmerge --workspace ${workspace.id} ${merged.from}`,
    ]);
    return 0;
  });
};

export const contactUnmerge: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace"]);
  const workspaceId = given.required("workspace");
  const [id, ...rest] = given.words;
  if (id === undefined || rest.length > 0) throw new UsageError("use: parley contact unmerge --workspace W ID");
  return withServices(config, async ({ store, customers }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const unmerged = await customers.unmerge(workspace.id, id, operator);
    output.result(unmerged, [`${unmerged.contact} is a customer of its own again, apart from ${unmerged.from}.`]);
    return 0;
  });
};

export const forget: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email", "contact"], ["yes"]);
  const workspaceId = given.required("workspace");
  const contactId = given.optional("contact");
  const customer = contactId === undefined ? { email: given.required("email") } : { contactId };
  const name = "email" in customer ? customer.email : customer.contactId;
  if ("email" in customer && !/^[^\s@]+@[^\s@]+$/.test(name.trim()))
    throw new UsageError(`--email: "${name}" is not an e-mail address`);
  return withServices(config, async ({ store, customers }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const { contacts, conversationIds } = await customerOf(store.read, workspace.id, customer);
    // An address can be in received events alone. A contact is deleted last, so one that is gone has nothing left.
    if (contactId !== undefined && contacts.length === 0) {
      throw new UsageError(`--contact: there is no contact ${contactId} in this workspace`);
    }
    for (const { id, name: shown, user_id } of contacts) {
      output.progress(`  ${id}  ${shown ?? "(no name)"}${user_id === null ? "" : `  user id ${user_id}`}`);
    }
    const what = `${counted(contacts.length, "contact")} and ${counted(conversationIds.length, "conversation")} of ${name}`;
    if (!(await confirmed(given.flag("yes"), `Erase ${what}? This cannot be undone. Type yes:`, "yes"))) {
      output.result({ erased: false }, ["Nothing was erased."]);
      return 1;
    }
    const erased = await customers.erase(workspace.id, customer, output.progress);
    const log = await store.truncateLog();
    output.result({ erased: true, ...erased }, [
      `Erased: ${counted(erased.contacts, "contact")}, ${counted(erased.conversations, "conversation")}, ${counted(erased.messages, "message")}, ${counted(erased.events, "received event")}, ${counted(erased.leftovers, "queued or kept row")}; took names out of ${counted(erased.auditEntries, "audit entry", "audit entries")}.`,
      ...(log ? [] : ["The database's write-ahead log is in use; it will be overwritten gradually."]),
      ...(erased.searchEngine === "queued"
        ? [
            "Typesense does not answer. The deletion is queued: the running server, or the next one, makes it once Typesense answers.",
          ]
        : []),
      ...(erased.searchEngine === "left"
        ? [
            "Not reached: Typesense, which was used before and still holds the conversations. Configure TYPESENSE_URL and TYPESENSE_API_KEY again, and the server deletes all that it held before; or delete its collections yourself.",
          ]
        : []),
      "Not erased: backups, log files, and data in other systems, such as platforms and receivers of webhooks.",
    ]);
    return 0;
  });
};

export const audit: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "conversation", "since", "limit"]);
  const workspaceId = given.required("workspace");
  const since = given.optional("since");
  const sinceAt = since === undefined ? undefined : parseInstant(since);
  if (since !== undefined && sinceAt === undefined)
    throw new UsageError("--since takes a time such as 2027-01-31T00:00:00Z");
  const limit = given.number("limit") ?? auditLinesStandard;
  if (limit < 1 || limit > auditLinesMax) throw new UsageError(`--limit takes 1 to ${auditLinesMax}`);
  return withServices(config, async ({ store }) => {
    const conversationId = given.optional("conversation");
    const { entries, more } = await readAudit(store, { workspaceId, conversationId, since: sinceAt, limit });
    if (more) output.progress(`The newest ${limit} of more entries; --limit shows more of them.`);
    output.result(
      entries,
      table(
        ["time", "action", "by", "conversation", "change"],
        entries.map((entry) => [
          entry.created_at,
          entry.action,
          entry.actor.name ?? entry.actor.id ?? entry.actor.type,
          entry.conversation_id,
          [entry.from, entry.to, entry.detail].filter((text) => text !== null).join(" → "),
        ]),
      ),
    );
    return 0;
  });
};

export const workspaceDelete: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, [], ["yes"]);
  const [id, ...rest] = given.words;
  if (id === undefined || rest.length > 0) throw new UsageError("use: parley workspace delete ID [--yes]");
  return withServices(config, async ({ store, customers, dropKnowledge }) => {
    const workspace = await requireDeletable(store, id);
    const question = `Delete workspace ${workspace.id} with all its conversations, documents, keys and agents? This cannot be undone. Type its name, ${workspace.name}:`;
    if (!(await confirmed(given.flag("yes"), question, workspace.name))) {
      output.result({ id: workspace.id, deleted: false }, ["Nothing was deleted."]);
      return 1;
    }
    const began = clock.now();
    await customers.removeWorkspace(workspace.id, output.progress);
    await dropKnowledge(workspace.id);
    await store.truncateLog();
    output.result({ id: workspace.id, deleted: true }, [
      `Deleted ${workspace.name} in ${Math.ceil((clock.now() - began) / 1_000)} s.`,
      "Requests with its keys now get 404 workspace_not_found.",
    ]);
    return 0;
  });
};
