import { ButtonStyle, ComponentType } from "discord.js";
import Type from "typebox";
import { Value } from "typebox/value";
import type { Opinion, OpinionButton } from "#channels/opinion-buttons.ts";
import { buttonsAfter, opinionButtons, readOpinion } from "#channels/opinion-buttons.ts";
import type { DiscordPress } from "./payloads.ts";
import type { DiscordPart } from "./render.ts";

type Button = Pick<OpinionButton, "label" | "data">;

/** The id of the button for a person, which Discord returns with a press. */
export const personButton = "parley:human";

/** Discord's limit of buttons in a row. */
const rowMax = 5;

/** The buttons of a new message. */
export function buttonsOfPart(part: Extract<DiscordPart, { kind: "text" }>, messageId: string): readonly Button[] {
  const { opinion, personLabel } = part;
  return [
    ...(opinion === undefined ? [] : opinionButtons(opinion, messageId)),
    ...(personLabel === undefined ? [] : [{ label: personLabel, data: personButton }]),
  ];
}

const shownSchema = Type.Array(
  Type.Object({ components: Type.Array(Type.Object({ custom_id: Type.String(), label: Type.String() })) }),
);

/** The buttons of a pressed message after the press was stored. A person is requested once. */
export function buttonsAfterPress({ message: { components } }: DiscordPress, opinion: Opinion | undefined) {
  const rows = Value.Check(shownSchema, components) ? components : [];
  const shown = rows.flatMap((row) => row.components.map(({ label, custom_id: data }) => ({ label, data })));
  return opinion === undefined
    ? shown.filter(({ data }) => data !== personButton)
    : [...buttonsAfter(opinion), ...shown.filter(({ data }) => readOpinion(data) === undefined)];
}

export const componentsOf = (buttons: readonly Button[]) =>
  Array.from({ length: Math.ceil(buttons.length / rowMax) }, (_, row) => ({
    type: ComponentType.ActionRow,
    components: buttons
      .slice(row * rowMax, (row + 1) * rowMax)
      .map(({ label, data }) => ({ type: ComponentType.Button, style: ButtonStyle.Secondary, label, custom_id: data })),
  }));
