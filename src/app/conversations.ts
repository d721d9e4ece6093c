import { humanRequestIn } from "#answering/classify/escalation.ts";
import type { Answerer } from "#answering/contract.ts";
import { spokenLanguage } from "#answering/understand/asker-language.ts";
import type { AgentDesk } from "#agent-desk/agent-desk.ts";
import { createAgentDesk } from "#agent-desk/agent-desk.ts";
import type { AccountStatus } from "#channel-host/account-status.ts";
import { createAccountStatus } from "#channel-host/account-status.ts";
import type { ChannelRegistry } from "#channel-host/registry.ts";
import { createChannels } from "#channel-host/registry.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import type { PauseAfter } from "#conversations/answering/turn.ts";
import type { CreatedEngine } from "#conversations/engine.ts";
import { createEngine } from "#conversations/engine.ts";
import type { FindLocalWorker } from "#conversations/transaction/local-worker.ts";
import { createWorkspaces } from "#database/queries/workspaces.ts";
import { settingsIn } from "#language/canned-texts.ts";
import type { Metrics } from "#metrics/metrics.ts";
import type { InboundBurstGauge } from "#queue/backpressure.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Services } from "./services.ts";
import type { Signals } from "./signals.ts";

interface ConversationParts {
  readonly services: Services;
  readonly signals: Signals;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicUrl: string;
  readonly processId: string;
  readonly answerer: Answerer;
  readonly pauseAfter: PauseAfter;
  readonly load: LoadAdapter;
  readonly checkpoint: Checkpoint;
  readonly inboundBurst: InboundBurstGauge;
  readonly localWorker: FindLocalWorker;
}

export interface Conversations {
  readonly channels: ChannelRegistry;
  readonly engine: CreatedEngine;
  readonly desk: AgentDesk;
  readonly status: AccountStatus;
}

/** Puts the channels, the engine and the agents' desk together, each of which calls the others. */
export function createConversations({ services, signals, ...parts }: ConversationParts): Conversations {
  const { store, secrets, search, files, judgeAnger, guardedLookup } = services;
  const workspaces = createWorkspaces(store, parts.clock);
  const status = createAccountStatus({ store, clock: parts.clock });
  const shared = { ...parts, store, workspaces, search, files, wake: signals.wake, fanout: signals.fanout };
  const channels = createChannels({
    ...shared,
    secrets,
    status,
    guardedLookup,
    engine: () => engine,
    desk: () => desk.service,
  });
  const engine = createEngine({
    ...shared,
    accounts: channels,
    channels,
    humanRequestIn,
    inLanguageOf: (settings, newestFirst) => settingsIn(settings, spokenLanguage(newestFirst)),
    judgeAnger,
  });
  const desk = createAgentDesk({ ...shared, channels, publishEffects: engine.publishEffects });
  return { channels, engine, desk, status };
}
