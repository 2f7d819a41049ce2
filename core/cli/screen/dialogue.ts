/** A conversation on a terminal, or over the lines of standard input where nobody sits at one. */
import type { Interface, Key } from 'node:readline'
import { Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { visible, visibleLine } from '../../base/text/visible.js'
import type { Dialogue } from '../../plugin/command.js'
import { createLines, hearing, type Lines, type Shown } from './lines.js'
import { beginning } from './folded.js'
import { readSize } from './size.js'
import { createStops } from './stops.js'

export interface OpenDialogue extends Dialogue {
  /** What Ctrl-C does, from elsewhere. */
  interrupt(): void
}

// Most command lines talk with nobody.
const readline = () => process.getBuiltinModule('node:readline')

const nothing = (): void => {}

const ofLines = (input: NodeJS.ReadStream): OpenDialogue => {
  const lines = createLines()
  let act = nothing
  const reader = readline().createInterface({ input, terminal: false, crlfDelay: Infinity })
  reader.on('line', (line) => lines.add(line, false))
  reader.on('close', lines.end)
  return {
    attended: false,
    hear: hearing(lines, { open: nothing, shut: nothing, show: nothing }),
    onInterrupt: (given) => {
      act = given
    },
    onStop: nothing,
    note: nothing,
    interrupt: () => (lines.asked() === undefined ? act() : lines.tell({ type: 'interrupt' })),
    close: () => reader.close(),
  }
}

/** What the terminal is told so that it says where a pasted text begins and ends, and to leave that. */
const [tellsPastes, tellsNone] = ['\u001b[?2004h', '\u001b[?2004l']
const emptyLine = '\r\u001b[K'
const goesOnPrompt = '… '

/** A screen that shows what is typed only while somebody is asked. */
const createPane = (screen: WriteStream) => {
  const state = { shown: false }
  const pane = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      if (state.shown) screen.write(chunk)
      done()
    },
  })
  const size = { get: () => screen.columns }
  Object.defineProperty(pane, 'columns', size)
  const resized = (): void => void pane.emit('resize')
  screen.on('resize', resized)
  return { pane, state, close: () => screen.off('resize', resized) }
}

/** True while the signs that come are pasted. */
const watchPastes = (input: ReadStream): { readonly pasting: () => boolean; readonly close: () => void } => {
  let pasting = false
  const hear = (_: string | undefined, { name = '' }: Key): void => {
    if (name === 'paste-start' || name === 'paste-end') pasting = name === 'paste-start'
  }
  input.on('keypress', hear)
  return { pasting: () => pasting, close: () => input.off('keypress', hear) }
}

/** Lines that the Tab key makes of one, for who is asked; a name that steers the terminal is none. */
const completed = (lines: Lines, line: string): string[] =>
  (lines.asked()?.complete(line) ?? []).filter((one) => visibleLine(one) === one)

const createReader = (input: ReadStream, output: Writable, complete: (line: string) => string[]): Interface =>
  readline().createInterface({
    input,
    output,
    terminal: true,
    historySize: 1_000,
    prompt: '',
    completer: (line: string) => [complete(line), line],
  })

/** Takes a terminal again that the shell had meanwhile, and draws what is typed below what stands there now. */
const takeAgain = (input: ReadStream, pane: Writable, reader: Interface): void => {
  // The shell has set it otherwise, which Node does not know.
  input.setRawMode(false)
  input.setRawMode(true)
  pane.write('\n'.repeat(reader.getCursorPos().rows))
  reader.prompt(true)
}

/** Forgets what has been typed. */
const clearTyped = (reader: Interface): void => {
  for (const name of ['e', 'u']) reader.write(null, { ctrl: true, name })
}

/** A line that others take the place of: it goes before somebody is asked. */
const createNote = (lines: Lines, screen: WriteStream) => {
  let isDrawn = false
  const draw = (text: string): void => {
    screen.write(`${emptyLine}${beginning(text, screen.columns - 1)}`)
    isDrawn = text !== ''
  }
  return {
    note: (text: string): void => void (lines.asked() === undefined && draw(text)),
    clear: (): void => void (isDrawn && draw('')),
  }
}

interface PromptParts {
  readonly lines: Lines
  readonly reader: Interface
  readonly screen: WriteStream
  readonly state: { shown: boolean }
}

/** Shows what is asked, and takes it back with what was typed. */
const createPrompts = ({ lines, reader, screen, state }: PromptParts): Shown & { prompt(text: string): void } => {
  const prompt = (text: string): void => {
    reader.setPrompt(visible(text))
    state.shown = true
    reader.prompt(true)
  }
  /** What was typed before it was asked for. */
  const show = (said: string, text: string): void => void screen.write(visible(`${said}${text}\n`))
  /** What was typed at a prompt that was taken back: it is no answer to what is asked then. */
  let draft: { readonly begun: readonly string[]; readonly line: string } | undefined
  const open: Shown['open'] = ({ prompt: text, remembered }) => {
    if (remembered && draft !== undefined) {
      const all = `${draft.line}${reader.line}`
      for (const line of draft.begun) lines.add(line, true)
      draft = undefined
      clearTyped(reader)
      reader.write(all)
    }
    const typed = lines.begun()
    for (const [at, line] of typed.entries()) show(at === 0 ? text : goesOnPrompt, line)
    prompt(typed.length > 0 ? goesOnPrompt : text)
  }
  const shut: Shown['shut'] = ({ remembered }) => {
    screen.write(emptyLine)
    state.shown = false
    if (remembered) draft = { begun: lines.begun(), line: reader.line }
    lines.drop()
    clearTyped(reader)
  }
  return { prompt, open, shut, show }
}

const ofTerminal = (input: ReadStream, screen: WriteStream): OpenDialogue => {
  const lines = createLines()
  const { pane, state, close: closePane } = createPane(screen)
  const reader = createReader(input, pane, (line) => (pastes.pasting() ? [`${line}\t`] : completed(lines, line)))
  const pastes = watchPastes(input)
  let [act, beforeStop] = [nothing, nothing]
  const stops = createStops({
    leave() {
      beforeStop()
      input.setRawMode(false)
      screen.write(tellsNone)
    },
    comeBack() {
      screen.write(tellsPastes)
      // What is typed would be drawn again over what the shell wrote.
      const { shown } = state
      state.shown = false
      readSize()
      state.shown = shown
      takeAgain(input, pane, reader)
    },
  })
  const { note, clear } = createNote(lines, screen)
  const ask = (shown: Shown): Dialogue['hear'] => {
    const hear = hearing(lines, shown)
    return (text, how) => {
      clear()
      return hear(text, how)
    }
  }
  const { prompt, ...shown } = createPrompts({ lines, reader, screen, state })
  const interrupt = (): void => {
    const question = lines.asked()
    if (question === undefined) return act()
    const typed = reader.line !== ''
    screen.write('^C\n')
    if (typed) clearTyped(reader)
    if (lines.drop() || typed) return prompt(question.prompt)
    state.shown = false
    lines.tell({ type: 'interrupt' })
  }
  screen.write(tellsPastes)
  reader.on('line', (line) => {
    const isAsked = lines.asked() !== undefined
    if (!lines.add(line, pastes.pasting())) state.shown = false
    else if (isAsked) prompt(goesOnPrompt)
  })
  reader.on('history', (history: string[]) => {
    if (lines.asked()?.remembered === false) history.shift()
  })
  reader.on('SIGINT', interrupt)
  reader.on('SIGTSTP', stops.stop)
  reader.on('close', () => {
    if (state.shown) screen.write('\n')
    state.shown = false
    lines.end()
  })
  return {
    attended: true,
    hear: ask(shown),
    note,
    onInterrupt: (given) => {
      act = given
    },
    onStop: (given) => {
      beforeStop = given
    },
    interrupt,
    close() {
      stops.close()
      pastes.close()
      closePane()
      reader.close()
      screen.write(tellsNone)
    },
  }
}

/** With a screen somebody types at it; else the lines of the input are what is said. */
export const createDialogue = (input: NodeJS.ReadStream, screen: WriteStream | undefined): OpenDialogue =>
  screen === undefined ? ofLines(input) : ofTerminal(input, screen)
