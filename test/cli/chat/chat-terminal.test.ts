import { describe, expect, it } from "vitest";
import { openFakeKeyboard } from "../../helpers/fake-keyboard.ts";

const ENTER = "\r";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

describe("a message", () => {
  it("is a line, edited as in a shell", async () => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    await type("helo\u001b[Dl\u0005!"); // left, l, end of line
    await type(ENTER);
    expect(await message).toBe("hello!");
  });

  it("goes on after Alt+Enter, which sends nothing", async () => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    await type("one\u001b\rtwo\nthree");
    await type(ENTER);
    expect(await message).toBe("one\ntwo\nthree");
  });

  it.each([
    ["Enter", `\u001b${ENTER}`, ENTER, "\na line"],
    ["Ctrl-C", `\u001b${CTRL_C}`, "", "a line"],
  ])("is still read after Esc and %s at once", async (_what, keys, more, expected) => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    await type(keys);
    await type(`a line${more === "" ? ENTER : more}`);
    expect(await message).toBe(expected);
  });

  it("is still read after Esc and, a moment later, Enter or Ctrl-C", async () => {
    const { terminal, type, wait } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    for (const key of [CTRL_C, "a"]) {
      await type("\u001b");
      await wait();
      await type(key);
    }
    await type("\u001b");
    await wait();
    await type(ENTER);
    expect(await message).toBe("a");
  });

  it("may be edited elsewhere, with Ctrl-G", async () => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ", { external: async (text) => `${text} and\nmore\n` });
    await type("this\u0007");
    await type(`!${ENTER}`);
    expect(await message).toBe("this and\nmore!");
  });

  it("is drawn again when the terminal has another size", async () => {
    const { terminal, type, keys, screen } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    await type("half");
    const before = screen().length;
    keys.redraw(false);
    expect(screen().slice(before)).toContain("> half");
    await type(ENTER);
    expect(await message).toBe("half");
  });

  it("goes on after a backslash; two backslashes are none", async () => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    await type(`one\\${ENTER}`);
    await type(`two \\\\${ENTER}`);
    expect(await message).toBe("one\ntwo \\\\");
  });

  it("may be typed before it is asked for, and several at once are read one by one", async () => {
    const { terminal, type } = openFakeKeyboard();
    await type(`first${ENTER}second${ENTER}thi`);
    expect(await terminal.readMessage("> ")).toBe("first");
    expect(await terminal.readMessage("> ")).toBe("second");
    const third = terminal.readMessage("> ");
    await type(`rd${ENTER}`);
    expect(await third).toBe("third");
  });

  it("keeps the line feeds of a paste, whatever pieces it comes in", async () => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    for (const piece of ["see \u001b[2", "00~one\rtw", "o\r\tthree\u001b[20", `1~ please${ENTER}`]) await type(piece);
    expect(await message).toBe("see one\ntwo\n\tthree please");
  });

  it("may hold characters whose bytes come apart", async () => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    const bytes = Buffer.from(`naïve 📦${ENTER}`);
    for (const byte of bytes) await type(Uint8Array.of(byte));
    expect(await message).toBe("naïve 📦");
  });

  it("can be had again with the arrow keys", async () => {
    const { terminal, type } = openFakeKeyboard();
    await type(`first${ENTER}`);
    await terminal.readMessage("> ");
    const again = terminal.readMessage("> ");
    await type(`\u001b[A!${ENTER}`);
    expect(await again).toBe("first!");
  });

  it("is completed with Tab", async () => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ", { complete: async (line) => [["/compact "], line] });
    await type("/com\t");
    await type(`20${ENTER}`);
    expect(await message).toBe("/compact 20");
  });

  it("is thrown away with Ctrl-C, and the prompt stands again", async () => {
    const { terminal, type, screen } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    await type(`never mind${CTRL_C}`);
    await type(`better${ENTER}`);
    expect(await message).toBe("better");
    expect(screen()).toContain("^C\n");
  });

  it.each([
    ["Ctrl-D", [CTRL_D]],
    ["Ctrl-C twice", [CTRL_C, CTRL_C]],
    ["Ctrl-C twice, the first in a line", [`text${CTRL_C}`, CTRL_C]],
  ])("is none after %s: the user leaves", async (_what, keys) => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    for (const key of keys) await type(key);
    expect(await message).toBeNull();
  });

  it("is still read when a line stood between two Ctrl-C", async () => {
    const { terminal, type } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    for (const keys of [CTRL_C, `text${CTRL_C}`, `more${ENTER}`]) await type(keys);
    expect(await message).toBe("more");
  });

  it("is none when the terminal is gone", async () => {
    const { terminal, hangUp } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    await hangUp();
    expect(await message).toBeNull();
    expect(await terminal.readMessage("> ")).toBeNull();
  });
});

describe("a key", () => {
  it.each([
    ["y", "y"],
    ["V", "v"],
    [ENTER, null],
    ["\u001b", null],
    [CTRL_C, "interrupt"],
    [CTRL_D, null],
  ])("%j gives %j", async (key, expected) => {
    const { terminal, type, wait } = openFakeKeyboard();
    const answer = terminal.readKey(["y", "n", "v"]);
    await type(key);
    await wait();
    expect(await answer).toBe(expected);
  });

  it("is waited for until it is one of those: other keys, arrows and pastes are none", async () => {
    const { terminal, type } = openFakeKeyboard();
    const answer = terminal.readKey(["y", "n", "v"]);
    for (const keys of ["x", "\u001b[A", "yes please", "n"]) await type(keys);
    expect(await answer).toBe("n");
  });
});

describe("work that Ctrl-C interrupts", () => {
  it("is told through its signal, once; twice ends the program", async () => {
    const { terminal, type, state } = openFakeKeyboard();
    let finish: () => void = () => undefined;
    const work = terminal.interruptible(async (signal) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return signal.aborted;
    });
    await type("typed meanwhile");
    expect(state.kills).toBe(0);
    await type(CTRL_C);
    expect(state.kills).toBe(0);
    await type(CTRL_C);
    expect(state.kills).toBe(1);
    finish();
    expect(await work).toBe(true);
  });

  it("lets what is typed meanwhile wait, unseen, for the next prompt", async () => {
    const { terminal, type, screen } = openFakeKeyboard();
    let finish: () => void = () => undefined;
    const work = terminal.interruptible(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    await type(`next question${ENTER}`);
    expect(screen()).not.toContain("next");
    finish();
    await work;
    expect(await terminal.readMessage("> ")).toBe("next question");
  });

  it.each([
    ["before", ["next ", "\u001b", "question"]],
    ["at once", ["\u001bnext question"]],
    ["after a moment", ["next question", "\u001b"]],
  ])("is interrupted by Esc, which eats nothing of what is typed (%s)", async (_what, pieces) => {
    const { terminal, type, wait } = openFakeKeyboard();
    const work = terminal.interruptible(
      (signal) => new Promise((resolve) => (signal.onabort = () => resolve("interrupted"))),
    );
    for (const piece of pieces) await type(piece);
    await wait();
    expect(await work).toBe("interrupted");
    const message = terminal.readMessage("> ");
    await type(ENTER);
    expect(await message).toBe("next question");
  });

  it("is not interrupted by an arrow key, Alt+Enter, or Esc in a paste; Esc again kills nothing", async () => {
    const { terminal, type, wait, state } = openFakeKeyboard();
    let finish: () => void = () => undefined;
    const work = terminal.interruptible(async (signal) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return signal.aborted;
    });
    await type("\u001b[Aa\u001b\r\u001b[200~\u001b\u001b[201~");
    await wait();
    finish();
    expect(await work).toBe(false);
    const stubborn = terminal.interruptible(
      (signal) => new Promise((resolve) => (signal.onabort = () => setImmediate(() => resolve("done")))),
    );
    for (let times = 0; times < 3; times++) {
      await type("\u001b");
      await wait();
    }
    expect([await stubborn, state.kills]).toEqual(["done", 0]);
  });

  it("asks without taking what was typed before as the answer", async () => {
    const { terminal, type, wait } = openFakeKeyboard();
    let ask: () => void = () => undefined;
    const work = terminal.interruptible(async () => {
      await new Promise<void>((resolve) => {
        ask = resolve;
      });
      return terminal.readAnswer("sure? ");
    });
    await type(`yes, and then${ENTER}`);
    ask();
    await wait();
    await type(`no${ENTER}`);
    expect(await work).toBe("no");
    expect(await terminal.readMessage("> ")).toBe("yes, and then");
  });

  it("may ask for a line; Ctrl-C there interrupts the work too", async () => {
    const { terminal, type } = openFakeKeyboard();
    const work = terminal.interruptible(async (signal) => [
      await terminal.readAnswer("sure? "),
      await terminal.readAnswer("really? "),
      signal.aborted,
    ]);
    await type(`yes${ENTER}`);
    await type(CTRL_C);
    expect(await work).toEqual(["yes", null, true]);
  });

  it("is interrupted when the terminal is gone", async () => {
    const { terminal, hangUp } = openFakeKeyboard();
    const work = terminal.interruptible(
      (signal) => new Promise((resolve) => (signal.onabort = () => resolve("saved"))),
    );
    await hangUp();
    expect(await work).toBe("saved");
  });
});

describe("a terminal that is no screen", () => {
  it("edits its lines itself: nothing is drawn, a backslash goes on, Ctrl-C empties the line", async () => {
    const { terminal, type, screen, state } = openFakeKeyboard({ plain: true });
    expect(state.raw).toBe(false);
    const message = terminal.readMessage("> ");
    await type("one\\\n");
    await type("two\nthree\n");
    expect(await message).toBe("one\ntwo");
    expect(await terminal.readMessage("> ")).toBe("three");
    const next = terminal.readMessage("> ");
    await type(CTRL_C);
    await type("four\n");
    expect(await next).toBe("four");
    const key = terminal.readKey(["y", "n"]);
    await type("y\n");
    expect(await key).toBe("y");
    terminal.close();
    expect(screen()).not.toContain("\u001b");
  });
});

describe("the terminal", () => {
  it("is raw while the chat runs, another program's while lent, and left as it was", async () => {
    const { terminal, type, keys, state, screen } = openFakeKeyboard();
    expect(state).toMatchObject({ raw: true, paused: false });
    await terminal.lend(async () => {
      expect(state).toMatchObject({ raw: false, paused: true });
      keys.type(CTRL_C); // a pager's, of which this process hears too
    });
    expect(state).toMatchObject({ raw: true, paused: false });
    const message = terminal.readMessage("> ");
    await type(`still here${ENTER}`);
    expect(await message).toBe("still here");
    expect(screen()).not.toContain("^C");
    terminal.close();
    expect(state).toMatchObject({ raw: false, paused: true });
    expect(screen().endsWith("\u001b[?2004l")).toBe(true);
  });

  it("sleeps at Ctrl-Z and draws the line again", async () => {
    const { terminal, type, state, screen } = openFakeKeyboard();
    const message = terminal.readMessage("> ");
    await type("half ");
    await type("\u001a");
    expect(state).toMatchObject({ stops: 1, raw: true });
    expect(screen().split("half").length).toBeGreaterThan(2);
    await type(`a line${ENTER}`);
    expect(await message).toBe("half a line");
  });
});
