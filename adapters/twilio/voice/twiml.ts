import twilio from "twilio";
import type { VoiceSettings } from "./config.ts";

type VoiceResponse = InstanceType<typeof twilio.twiml.VoiceResponse>;
type Gather = ReturnType<VoiceResponse["gather"]>;
type SayAttributes = NonNullable<Parameters<VoiceResponse["say"]>[0]>;
type GatherAttributes = NonNullable<Parameters<VoiceResponse["gather"]>[0]>;

/** What a request is about, in the address that Twilio was told to call. */
const step = /^[a-z]+(?:\.[A-Za-z0-9_.-]{1,120})?$/;
export const isStep = (at: string): boolean => step.test(at);

export const stepAddress = (webhookUrl: string, at: string): string => `${webhookUrl}?at=${at}`;

/** What stands behind # tells Twilio to ask again where there was no answer, or a failure. */
const again = "#rc=2&rp=all";

/** So long an ear waits for a word, and for the end of what is said. */
const listenSeconds = 6;
const endOfSpeechSeconds = "2";
const holdSeconds = 2;

export interface Twiml {
  /** Speaks, and takes what the caller says or presses meanwhile or afterwards. */
  listen(turn: number, speech: readonly string[]): string;
  /** Speaks, and asks us for more. */
  goOn(at: string, speech: readonly string[]): string;
  /** Holds the line for a moment, with a word or in silence, and asks us again. */
  hold(at: string, word: string | undefined): string;
  /** Speaks, and puts the caller through to a person, who is asked first whether they take the call. */
  dial(turn: number, callSid: string, speech: readonly string[]): string;
  askPerson(callSid: string): string;
  record(turn: number, speech: readonly string[]): string;
  hangUp(speech: readonly string[]): string;
  sorry(): string;
}

export const nothing = "<Response/>";

export function createTwiml(settings: VoiceSettings, webhookUrl: string): Twiml {
  const { texts, language, voice, dialTo } = settings;
  const to = (at: string): string => stepAddress(webhookUrl, at) + again;
  // Which languages and voices there are Twilio knows, and adds to: these are checked by it.
  const spoken = { language, ...(voice === undefined ? {} : { voice }) } as SayAttributes;
  const heard = { language } as GatherAttributes;

  const say = (response: VoiceResponse | Gather, speech: readonly string[]): void => {
    for (const text of speech) if (text !== "") response.say(spoken, text);
  };
  const made = (build: (response: VoiceResponse) => void): string => {
    const response = new twilio.twiml.VoiceResponse();
    build(response);
    return response.toString();
  };

  return {
    listen: (turn, speech) =>
      made((response) => {
        const gather = response.gather({
          ...heard,
          input: ["speech", "dtmf"],
          action: to(`turn.${turn}`),
          method: "POST",
          timeout: listenSeconds,
          speechTimeout: endOfSpeechSeconds,
          finishOnKey: "#",
          actionOnEmptyResult: true,
          bargeIn: true,
        });
        say(gather, speech);
      }),
    goOn: (at, speech) =>
      made((response) => {
        say(response, speech);
        response.redirect({ method: "POST" }, to(at));
      }),
    hold: (at, word) =>
      made((response) => {
        if (word === undefined) response.pause({ length: holdSeconds });
        else say(response, [word]);
        response.redirect({ method: "POST" }, to(at));
      }),
    dial: (turn, callSid, speech) =>
      made((response) => {
        say(response, speech);
        const dial = response.dial({
          action: to(`dialed.${turn}`),
          method: "POST",
          timeout: settings.dialSeconds,
          answerOnBridge: true,
        });
        dial.number({ url: to(`whisper.${callSid}`), method: "POST" }, dialTo ?? "");
      }),
    askPerson: (callSid) =>
      made((response) => {
        const gather = response.gather({
          input: ["dtmf"],
          numDigits: 1,
          timeout: 8,
          action: to(`whispered.${callSid}`),
          method: "POST",
        });
        say(gather, [texts.whisper, texts.whisper]);
        response.hangup();
      }),
    record: (turn, speech) =>
      made((response) => {
        say(response, speech);
        response.record({
          action: to(`recorded.${turn}`),
          method: "POST",
          maxLength: settings.messageSeconds,
          timeout: 5,
          finishOnKey: "#",
          playBeep: true,
          recordingStatusCallback: to("recording"),
          recordingStatusCallbackMethod: "POST",
          ...(settings.transcribe ? { transcribe: true, transcribeCallback: to("transcript") } : {}),
        });
        // Twilio comes here when nothing was said.
        response.redirect({ method: "POST" }, to(`unheard.${turn}`));
      }),
    hangUp: (speech) =>
      made((response) => {
        say(response, speech);
        response.hangup();
      }),
    sorry: () =>
      made((response) => {
        say(response, dialTo === undefined ? [texts.sorry, texts.goodbye] : [texts.sorry, texts.connecting]);
        if (dialTo !== undefined) response.dial({ timeout: settings.dialSeconds }, dialTo);
        response.hangup();
      }),
  };
}

/** How long a text takes to be spoken, about. */
export const speechMs = (speech: readonly string[]): number =>
  speech.reduce((sum, text) => sum + text.length * 65 + 500, 0);
