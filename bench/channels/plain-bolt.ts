// A handler on Bolt that answers every message with a fixed text, as in Bolt's guide:
//   SLACK_API=… node bench/channels/plain-bolt.ts PORT
import bolt from "@slack/bolt";
import { fixedText, slackSecrets } from "./platform.ts";

const [port = "0"] = process.argv.slice(2);
const app = new bolt.App({
  token: slackSecrets.botToken,
  signingSecret: slackSecrets.signingSecret,
  clientOptions: { slackApiUrl: `${process.env["SLACK_API"]}/` },
});
app.message(async ({ say }) => {
  await say(fixedText);
});
await app.start(Number(port));
