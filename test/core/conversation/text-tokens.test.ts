import { describe, expect, it } from "vitest";
import { estimateTextTokens, proseChars, textTokens } from "../../../src/core/conversation/text-tokens.ts";

/** Texts, and the tokens that o200k_base makes of 20 of each, line by line (gpt-tokenizer, November 2026). */
const MEASURED: readonly (readonly [kind: string, text: string, tokens: number])[] = [
  [
    "English",
    "Check how the parser handles quotes and fix the bug that loses data. All tests pass but the last line is still missing.",
    501,
  ],
  [
    "German",
    "Bitte prüfe, wie der Parser mit Anführungszeichen umgeht, und behebe den Fehler, durch den Daten verloren gehen.",
    541,
  ],
  [
    "French",
    "Vérifiez comment l’analyseur gère les guillemets et corrigez l’erreur qui fait perdre des données à l’export.",
    601,
  ],
  [
    "Polish",
    "Sprawdź, jak parser obsługuje cudzysłowy, i popraw błąd, przez który giną dane. Wszystkie testy przechodzą.",
    701,
  ],
  ["Czech", "Zkontrolujte, jak parser zpracovává uvozovky, a opravte chybu, která způsobuje ztrátu dat.", 600],
  [
    "Turkish",
    "Ayrıştırıcının tırnak işaretlerini nasıl işlediğini kontrol edin ve veri kaybına neden olan hatayı düzeltin.",
    601,
  ],
  ["Vietnamese", "Hãy kiểm tra cách trình phân tích xử lý dấu ngoặc kép và sửa lỗi làm mất dữ liệu.", 440],
  ["Russian", "Проверьте, как парсер обрабатывает кавычки, и исправьте ошибку, из-за которой теряются данные.", 560],
  ["Ukrainian", "Перевірте, як парсер обробляє лапки, і виправте помилку, через яку губляться дані.", 600],
  ["Greek", "Έλεγξε πώς χειρίζεται ο αναλυτής τα εισαγωγικά και διόρθωσε το σφάλμα που χάνει δεδομένα.", 660],
  ["Armenian", "Ստուգեք, թե ինչպես է վերլուծիչը մշակում չակերտները, և ուղղեք սխալը։", 560],
  ["Georgian", "შეამოწმეთ, როგორ ამუშავებს პარსერი ბრჭყალებს და გაასწორეთ შეცდომა.", 580],
  ["Hebrew", "בדוק כיצד המנתח מטפל במרכאות ותקן את הבאג שגורם לאובדן נתונים.", 540],
  ["Arabic", "تحقق من كيفية تعامل المحلل مع علامات الاقتباس وأصلح الخطأ الذي يفقد البيانات.", 440],
  ["Persian", "بررسی کنید که تجزیه‌گر چگونه نقل قول‌ها را مدیریت می‌کند و خطا را برطرف کنید.", 500],
  ["Hindi", "जाँचें कि पार्सर उद्धरण चिह्नों को कैसे संभालता है और डेटा खोने वाली त्रुटि ठीक करें।", 600],
  ["Bengali", "পার্সার উদ্ধৃতি চিহ্ন কীভাবে পরিচালনা করে তা পরীক্ষা করুন এবং ত্রুটি ঠিক করুন।", 460],
  ["Punjabi", "ਜਾਂਚ ਕਰੋ ਕਿ ਪਾਰਸਰ ਹਵਾਲਾ ਚਿੰਨ੍ਹਾਂ ਨੂੰ ਕਿਵੇਂ ਸੰਭਾਲਦਾ ਹੈ ਅਤੇ ਗਲਤੀ ਠੀਕ ਕਰੋ।", 700],
  ["Tamil", "பாகுபடுத்தி மேற்கோள்களை எவ்வாறு கையாளுகிறது என்பதைச் சரிபார்த்து பிழையைச் சரிசெய்யவும்.", 620],
  ["Telugu", "పార్సర్ ఉల్లేఖన చిహ్నాలను ఎలా నిర్వహిస్తుందో తనిఖీ చేసి లోపాన్ని సరిచేయండి.", 660],
  ["Thai", "โปรดตรวจสอบวิธีที่ตัวแยกวิเคราะห์จัดการเครื่องหมายคำพูดและแก้ไขข้อผิดพลาด", 579],
  ["Burmese", "ကျေးဇူးပြု၍ စာကြောင်းများကို စစ်ဆေးပြီး အမှားကို ပြင်ပါ။", 520],
  ["Khmer", "សូមពិនិត្យមើលរបៀបដែលកម្មវិធីដោះស្រាយសញ្ញាសម្រង់ ហើយកែកំហុស។", 760],
  ["Amharic", "እባክዎ ተንታኙ ጥቅሶችን እንዴት እንደሚይዝ ያረጋግጡ እና ስህተቱን ያስተካክሉ።", 1859],
  [
    "simplified Chinese",
    "请检查解析器在处理引号时的行为，并修复导致数据丢失的错误。测试全部通过，但是文件仍然缺少最后一行。",
    700,
  ],
  [
    "traditional Chinese",
    "請檢查解析器處理引號的方式，並修復導致資料遺失的錯誤。測試全部通過，但檔案仍缺少最後一行。",
    860,
  ],
  ["Japanese", "パーサーが引用符を処理するときの動作を確認して、データが失われる不具合を直してください。", 640],
  ["Korean", "파서가 따옴표를 처리하는 방식을 확인하고 데이터가 사라지는 오류를 고쳐 주세요.", 500],
  ["emoji", "🎉🚀😀🧪📝🐛🔒🦀👍🏽👨‍👩‍👧🇩🇪❤️⚠️✅", 759],
  ["emoji among words", "🎉 Done! 🚀 Shipped the release ✅ tests pass ❌ lint fails ⚠️ check this 🧪 experiment", 539],
  ["a tree of files", "├── src\n│   ├── core\n│   │   └── tokens\n│   └── app\n└── test", 639],
  [
    "a table drawn with lines",
    "┌──────────────┬─────────┐\n│ name         │ value   │\n├──────────────┼─────────┤\n│ foo          │ 1       │\n└──────────────┴─────────┘",
    1039,
  ],
  [
    "English and Chinese",
    "The parser 解析器 loses data when quotes 引号 appear: 请检查 parseLine() 的行为 and fix it.",
    480,
  ],
  [
    "code",
    'export function parse(text: string): Event[] {\n  const events: Event[] = [];\n  for (const line of text.split("\\n")) events.push(JSON.parse(line));\n  return events;\n}',
    801,
  ],
  [
    "code with Chinese comments",
    '// 解析一行文本,返回事件列表\nfunction parse(text) {\n  return text.split("\\n").map(JSON.parse); // 每行一个\n}',
    641,
  ],
  ["JSON", '{"id":17,"name":"item 17","tags":["a","b"],"price":42,"ok":true}', 520],
  ["numbers", "0.8394823,17,0.0021984\n442,98123,1.75", 459],
  ["a log in colours", "\u001b[32m✓\u001b[39m test 17 \u001b[2m(12 ms)\u001b[22m", 519],
  ["UUIDs", "f47ac10b-58cc-4372-a567-0e02b2c3d479\n9b2c8d1e-6a7f-4c3b-8e5d-1f0a2b3c4d5e", 1219],
  ["hashes", "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b", 819],
  [
    "base64",
    "QLJEESZB3XjdT5O2yRkN1G4AmRlNWkQle3761u+f9Gg9oe2gJERIyzQ6poj10+/XMU2v5YCsC8vxFa7Kno3BFA==O6+/CIgqLRATMJOhuEM/UFY7k8FKzQW3kCjrHRJ5kCckFFCYBlGZRQFCOmbCdq4mxDtzm8ZcThaxDDr2wgKuuw",
    2439,
  ],
];

const lines = (text: string): string => Array.from({ length: 20 }, () => text).join("\n");

describe("textTokens", () => {
  it.each(MEASURED)("is within a factor of 1.5 of a tokenizer for %s", (_kind, text, tokens) => {
    const ratio = textTokens(lines(text), 4) / tokens;
    expect(ratio).toBeGreaterThan(1 / 1.5);
    expect(ratio).toBeLessThan(1.5);
  });

  it("counts ordinary ASCII text by its length and kind, to the character", () => {
    const prose = "Look at src/parse.ts (line 12): it drops the last line!\n";
    for (const kind of [4, 3, 2.7]) expect(textTokens(prose.repeat(30), kind)).toBe((prose.length * 30) / kind);
    expect(textTokens("", 4)).toBe(0);
  });

  it("estimates a long text from pieces, nearly as from all of it, and ordinary text to the character", () => {
    for (const [kind, text, tokens] of MEASURED) {
      const times = Math.ceil(200_000 / lines(text).length);
      const ratio = textTokens(`${lines(text)}\n`.repeat(times), 4) / (tokens * times);
      expect(ratio, kind).toBeGreaterThan(1 / 1.5);
      expect(ratio, kind).toBeLessThan(1.5);
    }
    const prose = "The quick brown fox jumps over the lazy dog, again and again. ".repeat(4000);
    expect(textTokens(prose, 4)).toBe(prose.length / 4);
    const half = `${"words and words ".repeat(5000)}${"请检查解析器在处理引号时的行为".repeat(5000)}`;
    expect(textTokens(half, 4) / (20_000 + 0.75 * 75_000)).toBeCloseTo(1, 1);
  });

  it("takes words with a number in them for words", () => {
    const words = "utf8 sha256 base64Encode parseUtf8StringFromBuffer v2 item17 ";
    expect(textTokens(words.repeat(20), 4)).toBe((words.length * 20) / 4);
  });

  it("sees noise at the end of a text as well as in its middle", () => {
    const hash = "f47ac10b58cc4372a5670e02b2c3d479";
    expect(textTokens(`see ${hash}`, 4)).toBeCloseTo(textTokens(`${hash} see`, 4));
    expect(textTokens(hash, 4)).toBeGreaterThan(2 * textTokens("f".repeat(hash.length), 4));
  });

  it("does not count every sign of a long line of one sign", () => {
    expect(textTokens(`${"=".repeat(800)}\n`, 4)).toBeLessThan(10);
    expect(textTokens(`${"─".repeat(800)}\n`, 4)).toBeLessThan(100);
    expect(textTokens(" ".repeat(12), 4)).toBe(3);
  });

  it("adds no more to a text than what follows it", () => {
    for (const [, text] of MEASURED) {
      const whole = textTokens(lines(text), 4);
      expect(textTokens(`${lines(text)}\n${lines(text)}`, 4)).toBeGreaterThan(whole);
    }
  });
});

describe("estimateTextTokens", () => {
  it("counts no less than a tokenizer makes of words, and little less of signs", () => {
    for (const [kind, text, tokens] of MEASURED) {
      const least = /UUIDs|lines|colours|files/.test(kind) ? 0.8 * tokens : tokens;
      expect(estimateTextTokens(lines(text)), kind).toBeGreaterThanOrEqual(least);
    }
  });

  it("counts one at least for each character of another script, and ASCII at 2.7", () => {
    expect(estimateTextTokens("a".repeat(27))).toBe(10);
    expect(estimateTextTokens("漢".repeat(10))).toBe(10);
    expect(estimateTextTokens("\u007fa".repeat(27))).toBeGreaterThanOrEqual(20);
    expect(estimateTextTokens("й".repeat(27))).toBe(27);
    expect(estimateTextTokens(`${"漢".repeat(10)}${"a".repeat(28)}`)).toBe(21);
    expect(estimateTextTokens("")).toBe(0);
  });
});

describe("proseChars", () => {
  it("is the length of ASCII text, and what holds as many tokens of other scripts", () => {
    expect(proseChars("ls -la 0.123 f47ac10b58cc")).toBe(25);
    expect(proseChars("漢字")).toBe(6);
    expect(proseChars("й".repeat(100))).toBeCloseTo(140);
  });
});
