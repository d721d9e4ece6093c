import type { EventHandler } from "../batch.ts";
import type { EventKind } from "#channels/inbound-event.ts";
import { ingestActivity } from "./activity.ts";
import { ingestAgentMessage } from "./agent.ts";
import { ingestContact } from "./contact.ts";
import { ingestDelivery } from "./delivery.ts";
import { ingestEdit } from "./edit.ts";
import { ingestFeedback } from "./feedback.ts";
import { ingestMessage } from "./message.ts";
import { ingestMoved } from "./moved.ts";
import { ingestNotice } from "./notice.ts";
import { ingestRating } from "./rating.ts";
import { ingestReaction } from "./reaction.ts";
import { ingestReach } from "./reach.ts";
import { ingestState } from "./state.ts";

export const handlers: { readonly [K in EventKind]: EventHandler<K> } = {
  message: ingestMessage,
  edit: ingestEdit,
  delete: ingestEdit,
  contact: ingestContact,
  agent: ingestAgentMessage,
  notice: ingestNotice,
  state: ingestState,
  moved: ingestMoved,
  reach: ingestReach,
  feedback: ingestFeedback,
  reaction: ingestReaction,
  rating: ingestRating,
  activity: ingestActivity,
  delivery: ingestDelivery,
};
