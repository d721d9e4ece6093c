import { expect, it } from "vitest";
import { spokenLanguage } from "./asker-language.ts";

it.each([
  ["ar", "كم تستغرق مدة التوصيل؟"],
  ["ar", "شكرا جزيلا"],
  ["he", "כמה זמן לוקח המשלוח?"],
  ["he", "תודה רבה"],
  ["fa", "ارسال چقدر طول می‌کشد؟"],
  ["fa", "سلام"],
  ["ur", "ترسیل میں کتنا وقت لگتا ہے؟"],
  ["ur", "السلام علیکم"],
  ["en", "What does شكرا mean on your page about refunds?"],
  ["de", "Wie lange dauert die Lieferung nach תל אביב?"],
])("the language %s is recognised: %s", (language, text) => {
  expect(spokenLanguage([text])).toBe(language);
});
