import type { Twilio } from "twilio";
import type { ChannelHost } from "#channels/contract.ts";
import type { Form } from "../../shared/form.ts";
import type { Calls } from "./calls.ts";
import type { VoiceSettings } from "../config.ts";
import type { Twiml } from "../twiml.ts";

export interface VoiceDependencies {
  readonly client: Twilio;
  readonly settings: VoiceSettings;
  readonly host: ChannelHost;
  readonly calls: Calls;
  readonly twiml: Twiml;
}

/** One request of Twilio on a call. */
export interface CallRequest {
  readonly form: Form;
  readonly callSid: string;
  /** The number that the caller's telephone reports. It proves nothing. */
  readonly caller: string;
  /** The whole step, such as `hold.3.1`. */
  readonly at: string;
  /** The rest of the step after its name. */
  readonly detail: string;
}
