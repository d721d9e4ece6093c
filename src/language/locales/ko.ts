import type { Locale } from "../locale.ts";
import { unrecognised } from "../unrecognised.ts";

/** Korean. */
export const ko: Locale = {
  bot: {
    handover: "상담원에게 대화를 전달하겠습니다. 이곳에서 상담원이 답변드립니다.",
    unknown: "잘 모르겠습니다. 저희 문서에서 답을 찾지 못했습니다. 다르게 질문하시거나 상담원 연결을 요청해 주세요.",
    waiting: "메시지가 담당 팀에 전달되었습니다. 이곳에서 상담원이 답변드립니다.",
    survey:
      "상담은 어떠셨나요? 1(나쁨)부터 5(매우 좋음)까지의 숫자로 답해 주세요. 쉼표 뒤에 의견을 덧붙이실 수 있습니다.",
    rated: "평가해 주셔서 감사합니다!",
    uncertain: "확실하지는 않지만 도움이 될 수 있습니다:",
    hello: "안녕하세요! 무엇을 도와드릴까요?",
    thanks: "천만에요! 더 도와드릴 일이 있을까요?",
    goodbye: "안녕히 가세요! 궁금한 점이 있으면 다시 찾아 주세요.",
    pleased: "다행입니다. 더 도와드릴 일이 있을까요?",
    about: "저는 자동 도우미 {bot}입니다. 저희 문서를 바탕으로 답변합니다. 사람과 이야기하고 싶으시면 말씀해 주세요.",
    files_only:
      "파일 내용은 볼 수 없습니다. 보내신 파일은 이 대화에 보관됩니다. 필요하신 것을 글로 알려 주시거나, 파일을 열어 볼 수 있는 상담원 연결을 요청해 주세요.",
    lookup_failed: "지금은 확인할 수 없었습니다. 몇 분 뒤에 다시 시도하시거나 상담원 연결을 요청해 주세요.",
    lookup_unsure:
      "처리되었는지 확인할 수 없었습니다. 아직 다시 시도하지 마시고, 확인할 수 있는 상담원 연결을 요청해 주세요.",
    lookup_unverified:
      "로그인한 고객에 대해서만 확인할 수 있습니다. 로그인한 뒤 다시 질문하시거나 상담원 연결을 요청해 주세요.",
    lead_kept: "감사합니다. 기록해 두었습니다. 그쪽으로 연락드리겠습니다.",
    lead_wanted: "이메일 주소나 전화번호를 알려 주시면 연락드리겠습니다.",
    hours_open: "지금 영업 중이며 {time}까지 운영합니다({timezone}).",
    hours_today: "지금은 영업시간이 아니며 오늘 {time}에 다시 시작합니다({timezone}).",
    hours_later: "지금은 영업시간이 아니며 {day} {time}에 다시 시작합니다({timezone}).",
    hours_closed: "현재 영업하지 않습니다.",
    lookup_none: "해당 내용을 찾지 못했습니다. 입력하신 내용을 확인하시거나 상담원 연결을 요청해 주세요.",
    unknown_language: "저희 문서는 다른 언어({language})로 되어 있습니다. 그 언어로 질문하시면 더 찾을 수 있습니다.",
    did_you_mean: "다음 중 하나를 찾으시나요? 번호로 답해 주세요.",
  },
  widget: null,
  voice: null,
  stopWords:
    "얼마나 얼마 어떻게 언제 어디 어디서 무엇 왜 누구 몇 수 있 있나요 하 하나요 할 싶어요 싶 좀 제 저 내 그 이 것 해요 걸리 되 어떤 주세요 알려주세요",
  documentWords: "",
  functionWords: "",
  spelling: { signs: null, restored: [], elides: false },
  questions: { and: "", asks: "", opens: "", tells: "", indirect: "", whether: "", preambles: [] },
  followUp: {
    continuing: "그럼|그건|그거|그리고",
    pointing: "",
    final: "",
    measuring: "얼마나|걸려요|걸리나요|걸립니까",
  },
  clauses: { contrasts: "", conjunctions: "", ranges: "", leaning: "", pronouns: "" },
  negations: "",
  numbers: {},
  courtesies: {
    hello: "안녕하세요|안녕",
    thanks: "감사합니다|고맙습니다|고마워요|감사해요",
    goodbye: "안녕히 계세요|안녕히 가세요",
    beside: "정말|네",
  },
  pleasantries: [],
  letters: { salutations: "", closings: "" },
  handover: {
    ...unrecognised.handover,
    unspaced:
      "(?:상담원|상담사|직원|사람|담당자|매니저|책임자) ?(?:분|님)?(?:과|와|이랑|하고|한테|에게|으로|을|를|좀)? ?[^.!?]{0,6}?(?:연결|통화|이야기|얘기|대화|상담하|바꿔|불러)|전화 ?(?:주세요|해 ?주세요|좀 ?주)",
  },
  denial: {
    persons: "",
    negations: "",
    others: "",
    joins: "",
    without: "",
    pattern: "(?:상담원|사람).{0,8}(?:필요 ?없|말고|싫)",
  },
  anger: { strong: "", medium: "", mild: "", negations: "", phrases: "", unspaced: "" },
  unfinished: { announces: "", continues: "", begins: "", lacksObject: "", states: "", requests: "" },
  references: { things: "주문|송장|예약|고객|문의|운송장", numbers: "번호", owned: "", being: "은|는|이|가", mine: "" },
  openingHours: ["영업시간"],
  linkBySms: [],
};
