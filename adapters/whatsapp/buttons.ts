import type { OpinionButtons } from "#channels/opinion-buttons.ts";
import { opinionButtons } from "#channels/opinion-buttons.ts";

/** The id of the button for a person, which WhatsApp returns with a press. */
export const personButton = "parley:human";

/** WhatsApp's limit of the text of a message with buttons. */
export const buttonsTextMax = 1_024;

/** Stored with the part that carries the buttons. */
export interface Buttons {
  readonly opinion?: OpinionButtons;
  /** The label of the button that asks for a person. */
  readonly person?: string;
}

/** WhatsApp shows at most three buttons, and a list for more choices. */
export function interactiveOf(body: string, { opinion, person }: Buttons, messageId: string) {
  const choices = opinion === undefined ? [] : opinionButtons(opinion, messageId);
  if (opinion === "stars") {
    const rows = choices.toReversed().map(({ label, name, data }) => ({ id: data, title: label, description: name }));
    return { type: "list", body: { text: body }, action: { button: "★ 1–5", sections: [{ rows }] } };
  }
  const buttons = [
    ...choices.map(({ label, data }) => ({ id: data, title: label })),
    ...(person === undefined ? [] : [{ id: personButton, title: person }]),
  ];
  return {
    type: "button",
    body: { text: body },
    action: { buttons: buttons.map((reply) => ({ type: "reply", reply })) },
  };
}

/**
 * The text where Meta takes no buttons. A survey's text says how to type the rating, a reaction is an opinion, and the
 * label can be typed. It has no number: a number chooses a title or a rating.
 */
export const asTyped = (body: string, { person }: Buttons): string =>
  person === undefined ? body : `${body}\n\n${person}`;

/** Whether the customer has typed the label of the button for a person. */
export const isLabel = (text: string, label: string | undefined): boolean =>
  label !== undefined && text.trim().toLowerCase() === label.toLowerCase();
