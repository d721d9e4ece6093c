// A handler on grammY that answers every message with a fixed text, as in grammY's guide:
//   TELEGRAM_API=… node bench/channels/plain-grammy.ts PORT
import { createServer } from "node:http";
import { Bot, webhookCallback } from "grammy";
import { fixedText, telegramSecrets } from "./platform.ts";

const [port = "0"] = process.argv.slice(2);
const bot = new Bot(telegramSecrets.token, { client: { apiRoot: process.env["TELEGRAM_API"] ?? "" } });
bot.on("message:text", async (context) => {
  await context.reply(fixedText);
});
const handle = webhookCallback(bot, "http", { secretToken: telegramSecrets.webhookSecret });
createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    response.writeHead(500).end();
  });
}).listen(Number(port), "127.0.0.1");
