import twilio from "twilio";
import type { VoiceSettings } from "./config.ts";

type VoiceResponse = InstanceType<typeof twilio.twiml.VoiceResponse>;
type Gather = ReturnType<VoiceResponse["gather"]>;
type SayAttributes = NonNullable<Parameters<VoiceResponse["say"]>[0]>;
type GatherAttributes = NonNullable<Parameters<VoiceResponse["gather"]>[0]>;

/** The step of a call that a request is for: the parameter `at` of the address. */
const step = /^[a-z]+(?:\.[A-Za-z0-9_.-]{1,120})?$/;
export const isStep = (at: string): boolean => step.test(at);

export const stepAddress = (webhookUrl: string, at: string): string => `${webhookUrl}?at=${at}`;

/** The fragment makes Twilio retry twice, on any failure. */
const again = "#rc=2&rp=all";

/** Silence before a turn counts as empty, and after the last word before it counts as finished. Both in seconds. */
const listenSeconds = 6;
const endOfSpeechSeconds = "2";
const holdSeconds = 2;

export interface Twiml {
  /** Speaks, and takes speech or keys, during the speech too. */
  listen(turn: number, speech: readonly string[]): string;
  /** Speaks, then requests the step `at`. */
  goOn(at: string, speech: readonly string[]): string;
  /** Holds the line with a word or a pause, then requests the step `at`. */
  hold(at: string, word: string | undefined): string;
  /** Speaks, then dials `dial_to`. The person there must accept the call first. */
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
  // The SDK's types list languages and voices. Twilio adds new ones, so any value is passed on.
  const sayAttributes = { language, ...(voice === undefined ? {} : { voice }) } as SayAttributes;
  const gatherAttributes = { language } as GatherAttributes;

  const say = (response: VoiceResponse | Gather, speech: readonly string[]): void => {
    for (const text of speech) if (text !== "") response.say(sayAttributes, text);
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
          ...gatherAttributes,
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
        // Twilio continues here when the recording is empty.
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

/** An estimate of the time to speak these texts. */
export const speechMs = (speech: readonly string[]): number =>
  speech.reduce((sum, text) => sum + text.length * 65 + 500, 0);
