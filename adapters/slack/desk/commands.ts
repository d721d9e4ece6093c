import { channelLabel } from "#channels/catalog.ts";
import type { DeskConversation, DeskHost, DeskPerson, DeskView } from "#channels/desk/contract.ts";
import type { ChannelHost } from "#channels/contract.ts";
import { shortened, statusText } from "./card.ts";
import type { DeskAgents } from "./agents.ts";
import { escapeText } from "../messages/mrkdwn.ts";
import type { SlashCommand } from "../deliveries/payloads.ts";
import { filled } from "../deliveries/payloads.ts";
import { parseMessageId } from "../messages/thread.ts";

export interface CommandDependencies {
  readonly host: Pick<ChannelHost, "clock" | "log">;
  readonly desk: DeskHost;
  readonly people: DeskAgents;
  /** The URL of the Slack workspace; undefined until it is known. */
  readonly workspaceUrl: () => string | undefined;
}

const listMax = 15;
/** Slack waits three seconds for the response. */
const lookupMs = 2_000;

const help = [
  "*/parley mine* – conversations that you have",
  "*/parley open* – conversations that nobody has; those that wait for a person come first",
  "*/parley search WORDS* – conversations in which all of the words were said",
  "*/parley claim conv_…* – takes the conversation with this id",
  "*/parley help* – this",
  "",
  "In a thread, what you write goes to the customer. Begin with // for a note that only colleagues see.",
].join("\n");

const privately = (text: string) => ({ response_type: "ephemeral", text }) as const;

/** The response to a slash command; only its sender sees it. Undefined: it comes later. */
export async function answerCommand(dependencies: CommandDependencies, command: SlashCommand) {
  const { host, desk, people } = dependencies;
  const [word = "", ...rest] = (command.text ?? "").trim().split(/\s+/);
  const argument = rest.join(" ").slice(0, 500);
  const verb = word.toLowerCase();
  if (verb === "" || verb === "help") return privately(help);
  if (verb !== "mine" && verb !== "open" && verb !== "search" && verb !== "claim") {
    return privately(`There is no command “${escapeText(word.slice(0, 50))}”.\n\n${help}`);
  }
  if (verb === "search" && argument === "") return privately("What for? For example: */parley search refund*");
  let person: DeskPerson;
  try {
    // Only agents may read customers' messages, and anyone in Slack can send a command.
    person = await people.findMember(command.user_id, AbortSignal.timeout(lookupMs));
  } catch (error) {
    host.log.warn({ err: error }, "slack: command not answered, its sender is unknown");
    return privately("Slack does not tell who you are just now. Please try again in a minute.");
  }
  if (person.kind === "stranger")
    return privately(`${verb === "claim" ? "Nothing was done" : "Nothing is shown"}: ${escapeText(person.reason)}.`);
  if (verb === "claim") return claim(dependencies, command, argument);
  const view: DeskView =
    verb === "mine"
      ? { kind: "mine", email: person.email }
      : verb === "open"
        ? { kind: "open" }
        : { kind: "search", text: argument };
  const found = await desk.list(view, listMax + 1);
  return privately(listText(found, dependencies.workspaceUrl()));
}

async function claim({ desk }: CommandDependencies, command: SlashCommand, argument: string) {
  const id = /conv_[0-9a-z]{26}/.exec(argument)?.[0];
  if (id === undefined) return privately("Which one? For example: */parley claim conv_…*, with the whole id.");
  if ((await desk.conversation(id)) === null) return privately("There is no conversation with this id.");
  await desk.accept({
    kind: "asked",
    externalId: `command:${command.user_id}:${(filled(command.trigger_id) ?? "").slice(0, 120)}`,
    by: command.user_id,
    place: filled(command.response_url)?.slice(0, 500) ?? `${command.channel_id ?? desk.channels[0] ?? ""}:root`,
    conversationId: id,
    ask: { kind: "claim" },
    confirm: true,
  });
  // The desk reports the result later, at `place`.
  return undefined;
}

function listText(found: readonly DeskConversation[], workspaceUrl: string | undefined): string {
  if (found.length === 0) return "There is none.";
  const lines = found.slice(0, listMax).map((each) => lineOf(each, workspaceUrl));
  return [...lines, ...(found.length > listMax ? ["… and more: see the inbox."] : [])].join("\n");
}

function lineOf(conversation: DeskConversation, workspaceUrl: string | undefined): string {
  const { url, customer, channel, question, thread, id } = conversation;
  const label = escapeText(shortened(customer.label, 60)).replaceAll("|", "¦");
  const inThread = thread === null || workspaceUrl === undefined ? undefined : threadUrl(workspaceUrl, thread);
  return [
    `• <${escapeText(inThread ?? url)}|${label}> · ${channelLabel(channel)} · ${statusText(conversation)} · \`${id}\``,
    ...(question === "" ? [] : [`    ${escapeText(shortened(question, 100))}`]),
  ].join("\n");
}

function threadUrl(workspaceUrl: string, thread: string): string {
  const { channelId, ts } = parseMessageId(thread);
  return `${workspaceUrl.replace(/\/$/, "")}/archives/${channelId}/p${ts.replace(".", "")}`;
}
