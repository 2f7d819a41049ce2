/** The command line as people use it: in a terminal, of which a test sees the screen; or over pipes. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { fault } from '../../core/base/assert.js'
import { mainFile } from './daemon.js'

type Variables = Readonly<Record<string, string>>

/** What a machine without `tmux` cannot try: such a test says so and passes. */
export const hasTmux = (t: ExecutionContext<any>): boolean => {
  const there = spawnSync('tmux', ['-V']).status === 0
  if (!there) t.log('NOT TRIED: there is no tmux here, so no real terminal either')
  return there
}

const patienceMs = 300_000
const lookMs = 25

/** Looks until the text has it; throws with the text if it does not come. */
const untilIn = async (read: () => string, wanted: RegExp): Promise<string> => {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const text = read()
    if (wanted.test(text)) return text
    if (Date.now() > deadline) throw fault(`${String(wanted)} did not come: ${text}`)
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

export interface Terminal {
  /** What a person presses: words that tmux knows, such as `Enter` and `C-c`. */
  press(...keys: readonly string[]): void
  /** What a person types, as it is. */
  type(text: string): void
  /** Text from the clipboard, as a terminal pastes it. */
  paste(text: string): void
  /** Another size of the window. */
  resize(columns: number, rows: number): void
  /** All lines so far, without the blanks at their ends. */
  screen(): string
  /** The lines that a person sees without scrolling. */
  shown(): string
  until(wanted: RegExp): Promise<string>
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ')
/** The line of a shell that runs `holdfast` with these words. */
export const holdfast = (words: readonly string[]): string => quoted([process.execPath, mainFile, ...words])

/** `holdfast` with these words in a terminal of 90 columns and 60 rows, or `COLUMNS` and `LINES`; the shell says `ended N` behind it. */
export const openTerminal = (
  t: ExecutionContext<any>,
  words: readonly string[],
  environment: Variables = {},
): Promise<Terminal> =>
  openScreen(t, (clean) => `${clean} ${holdfast(words)}; echo "ended $?"; sleep 1000`, environment)

/** The same in a shell at which a person goes on: it has job control, and its prompt is `$`. */
export const openShell = async (
  t: ExecutionContext<any>,
  words: readonly string[],
  environment: Variables = {},
): Promise<Terminal> => {
  const shell = await openScreen(t, (clean) => `${clean} bash --norc --noprofile`, { ...environment, PS1: '$ ' })
  await shell.until(/^\$$/mu)
  shell.type(holdfast(words))
  shell.press('Enter')
  return shell
}

const openScreen = async (
  t: ExecutionContext<any>,
  lineOf: (clean: string) => string,
  environment: Variables,
): Promise<Terminal> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-screen-'))
  const tmux = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('tmux', ['-S', join(folder, 'socket'), ...args], { encoding: 'utf8' })
    if (status !== 0) throw fault(`tmux ${args[0] ?? ''}: ${stderr}`)
    return stdout
  }
  t.teardown(async () => {
    tmux('kill-server')
    // A shell that is ended writes its history there meanwhile.
    await rm(folder, { recursive: true, force: true, maxRetries: 20 })
  })
  const variables = Object.entries({ PATH: process.env['PATH'] ?? '', HOME: folder, TERM: 'xterm', ...environment })
  const line = lineOf(`env -i ${quoted(variables.map(([name, value]) => `${name}=${value}`))}`)
  const { COLUMNS = '90', LINES = '60' } = environment
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', COLUMNS, '-y', LINES, line)
  const captured = (...from: readonly string[]): string =>
    tmux('capture-pane', '-p', '-J', ...from)
      .replaceAll(/ +$/gmu, '')
      .trimEnd()
  const screen = (): string => captured('-S', '-')
  return {
    press: (...keys) => void tmux('send-keys', ...keys),
    type: (text) => void tmux('send-keys', '-l', text),
    paste: (text) => {
      tmux('set-buffer', text)
      tmux('paste-buffer', '-p')
    },
    resize: (columns, rows) => void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    screen,
    shown: () => captured(),
    until: (wanted) => untilIn(screen, wanted),
  }
}

export interface Piped {
  /** A line of standard input. */
  say(line: string): void
  /** The end of standard input. */
  end(): void
  out(): string
  err(): string
  until(wanted: RegExp): Promise<string>
  kill(signal: NodeJS.Signals): void
  /** The exit code. */
  readonly ended: Promise<number | null>
}

/** `holdfast` with these words, over pipes. */
export const openPiped = (t: ExecutionContext<any>, words: readonly string[], environment: Variables = {}): Piped => {
  const child: ChildProcess = spawn(process.execPath, [mainFile, ...words], {
    stdio: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...environment },
  })
  t.teardown(() => void child.kill('SIGKILL'))
  const text = { out: '', err: '' }
  child.stdout?.on('data', (bytes: Buffer) => (text.out += bytes.toString()))
  child.stderr?.on('data', (bytes: Buffer) => (text.err += bytes.toString()))
  return {
    say: (line) => void child.stdin?.write(`${line}\n`),
    end: () => void child.stdin?.end(),
    out: () => text.out,
    err: () => text.err,
    until: (wanted) => untilIn(() => text.out, wanted),
    kill: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => child.once('close', resolve)),
  }
}
