import { readFile } from "node:fs/promises";
import {
  adapterFolder,
  channelLabel,
  channels as channelNames,
  hasTrait,
  providersOf,
  publicAddressOf,
} from "#channels/catalog.ts";
import { installSchema, redirectUrlOf } from "#admin/channels/installs.ts";
import type { AdapterModule, ChannelAdapter, ChannelHost, OutboundMessage, WriteFirst } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { runOf } from "#channel-host/connection.ts";
import { webhookUrlOf } from "#channel-host/host.ts";
import type { OpenAccount } from "#channel-host/open-account.ts";
import type { ChannelRegistry } from "#channel-host/registry.ts";
import { createSites } from "#channel-host/sites.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type {
  AccountAbilities,
  ChannelAccounts,
  ChannelKind,
  ChannelTestMessage,
  HttpDependencies,
  ListedChannelKind,
} from "#http/dependencies.ts";
import type { Metrics } from "#metrics/metrics.ts";
import { accountsTopic } from "#queue/signals/topics.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Fanout, Wake } from "#runtime/signals.ts";
import { checkAccount } from "./checks.ts";

interface AccountParts {
  readonly channels: ChannelRegistry;
  readonly load: LoadAdapter;
  readonly fanout: Fanout;
  readonly wake: Wake;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly guardedLookup: NonNullable<ChannelHost["lookup"]>;
}

const sendMs = 30_000;

/** The ports of channels that HTTP uses. */
export function createChannelPorts(
  parts: AccountParts & { readonly metrics: Pick<Metrics, "seen"> },
): Pick<HttpDependencies, "sites" | "channelAccounts"> {
  return { sites: createSites(parts.channels, parts.metrics), channelAccounts: createChannelAccounts(parts) };
}

/** Serves administrators with the accounts of this process. */
function createChannelAccounts(parts: AccountParts): ChannelAccounts {
  const { channels, fanout, wake, clock, publicUrl, guardedLookup } = parts;
  return {
    lookup: guardedLookup,
    tryOut: (account) => channels.tryOut(account),
    publish(lanes) {
      if (lanes.length > 0) wake.notify(lanes, clock.now());
      fanout.publish(accountsTopic, "");
    },
    kinds: () =>
      channelNames
        .filter((channel) => !hasTrait(channel, "builtin"))
        .flatMap(listedKinds)
        .toSorted((a, b) => a.label.localeCompare(b.label)),
    kind: (channel, provider) => describeKind(parts, channel, provider),
    async abilities({ id, channel }) {
      let opened: OpenAccount | undefined;
      try {
        opened = await channels.open(id);
      } catch (error) {
        return { ...none, fault: error instanceof Error ? error.message : "unknown failure" };
      }
      return opened === undefined ? none : describeAbilities(parts, opened, webhookUrlOf(publicUrl, { channel, id }));
    },
    check: (account) => checkAccount(account, () => channels.open(account.id)),
    sendTest: (accountId, message) => sendTest(parts, accountId, message),
  };
}

const none: AccountAbilities = {
  hasConnection: false,
  webhookUrl: null,
  testAddress: null,
  setupFiles: [],
  canInstall: false,
  fault: null,
};

async function describeAbilities(
  { load, publicUrl }: Pick<AccountParts, "load" | "publicUrl">,
  { account, adapter }: OpenAccount,
  webhookUrl: string,
): Promise<AccountAbilities> {
  const isWebhook = adapter.inbound.kind === "webhook";
  const { writeFirst } = adapter;
  const { channel, config } = account;
  const module = await load(channel, config as object);
  return {
    hasConnection: runOf(adapter) !== undefined,
    webhookUrl: isWebhook ? webhookUrl : null,
    testAddress: writeFirst === undefined ? null : shownAddress(writeFirst),
    setupFiles: (await module?.setupFiles?.(isWebhook ? webhookUrl : null, redirectUrlOf(publicUrl, channel))) ?? [],
    canInstall: module?.install?.required.every((name) => name in (config as object)) === true,
    fault: null,
  };
}

const shownAddress = ({ label, hint, isEmail }: WriteFirst) => ({ label, hint, isEmail: isEmail === true });

/** One for each provider of the channel. */
function listedKinds(channel: Channel): readonly ListedChannelKind[] {
  const kind = { channel, label: channelLabel(channel), publicAddress: publicAddressOf(channel) };
  const providers = providersOf(channel);
  if (providers.length < 2) return [{ ...kind, provider: null }];
  return providers.map(({ name, label }) => ({ ...kind, provider: name, label: `${kind.label} (${label})` }));
}

async function describeKind(
  parts: Pick<AccountParts, "load" | "publicUrl" | "clock">,
  channel: Channel,
  provider: string | undefined,
): Promise<ChannelKind | undefined> {
  if (hasTrait(channel, "builtin")) return undefined;
  const kinds = listedKinds(channel);
  const listed =
    provider === undefined || kinds.length === 1 ? kinds[0] : kinds.find((kind) => kind.provider === provider);
  const folder = adapterFolder(channel, { provider });
  const { load, publicUrl } = parts;
  const module = await load(channel, { provider });
  if (listed === undefined || folder === undefined || module === undefined) return undefined;
  const redirectUrl = redirectUrlOf(publicUrl, channel);
  const { install } = module;
  return {
    ...listed,
    schema: plainSchema(module.config),
    secrets: module.secrets,
    steps: await readSteps(folder),
    setupFiles: (await module.setupFiles?.(null, redirectUrl)) ?? [],
    newAccount: newAccountOf(parts, listed, module),
    install:
      install === undefined
        ? null
        : { label: install.label, schema: plainSchema(installSchema(module, install)), redirectUrl },
  };
}

/** Nothing is stored. The address can be entered at the platform before the account is connected with this id. */
function newAccountOf(
  { publicUrl, clock }: Pick<AccountParts, "publicUrl" | "clock">,
  { channel }: ListedChannelKind,
  { isAddressEntered }: Pick<AdapterModule, "isAddressEntered">,
): ChannelKind["newAccount"] {
  if (isAddressEntered !== true) return null;
  const id = newId("acc", clock.now());
  return { id, webhookUrl: webhookUrlOf(publicUrl, { channel, id }) };
}

/** Without what only TypeBox reads. */
const plainSchema = (schema: AdapterModule["config"]) =>
  JSON.parse(JSON.stringify(schema)) as Readonly<Record<string, unknown>>;

/** The section of an adapter's README on how to connect an account. */
async function readSteps(folder: string): Promise<string> {
  const readme = await readFile(new URL(`../../../adapters/${folder}/README.md`, import.meta.url), "utf8");
  const [, section = ""] = /^## Connect an account\n(.*?)(?=^## |$(?![\s\S]))/msu.exec(readme) ?? [];
  return section.trim();
}

async function sendTest(
  { channels, clock }: AccountParts,
  id: string,
  { to, text, begin }: ChannelTestMessage,
): Promise<void> {
  const opened = await channels.open(id);
  if (opened === undefined) throw new Problem("channel_refused", "This channel is disabled.");
  const { adapter } = opened;
  if (channels.paused({ id })) throw new Problem("channel_refused", "This channel is paused. Resume it first.");
  const { writeFirst } = adapter;
  if (writeFirst === undefined) {
    throw new Problem("channel_refused", "On this platform, only customers can begin a conversation.");
  }
  const thread = writeFirst.thread(to.trim());
  if (thread === undefined) throw new Problem("invalid_parameter", `to: ${writeFirst.hint}`);
  const parts = writeFirst.send === undefined ? testParts(adapter, thread, text) : [];
  await begin();
  const signal = AbortSignal.timeout(sendMs);
  const messageId = newId("msg", clock.now());
  const release = channels.hold(opened);
  try {
    await writeFirst.send?.(thread, text, { key: messageId, signal });
    for (const [i, part] of parts.entries()) {
      await channels.send({ id }, part, { thread, key: `${messageId}.${i}`, messageId, signal });
    }
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    const outcome = error.outcome === "unknown" ? "may not have been delivered" : "was not delivered";
    throw new Problem("channel_refused", `The message ${outcome}: ${error.message}`, { cause: error });
  } finally {
    release();
  }
}

function testParts(
  { window, render }: Pick<ChannelAdapter, "window" | "render">,
  thread: string,
  text: string,
): readonly Part[] {
  const message: OutboundMessage = { role: "assistant", authorName: null, markdown: text, sources: [] };
  if (window === undefined || window.appliesTo?.(thread) === false) return render(message);
  // The person has not written before.
  const parts = window.outside(message);
  if (typeof parts === "string") throw new Problem("channel_refused", parts);
  return parts;
}
