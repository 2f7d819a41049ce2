import { count, defineCommand, namedLine, shellWord, visibleLine, type Command } from '../../../core/plugin.js'
import { loadCassette } from './cassette/load.js'
import { partingOf, stepsOf, type Parting, type ReplayStep } from './cassette/replay.js'

interface Replay {
  readonly file: string
  readonly steps: readonly ReplayStep[]
  /** With --compare: where the other one goes another way, and null if nowhere. */
  readonly differs?: Parting | null
}

/** Characters of one text that are shown; JSON has them all. */
const mostText = 2_000
const cut = (text: string): string =>
  text.length > mostText ? `${text.slice(0, mostText)}… (${text.length} characters)` : text

const named = namedLine(8)
const block = (label: string, text: string): string[] => named(label, cut(text))

const showStep = ({ line, model, status, end, asked, said }: ReplayStep, at: number): string =>
  [
    `${at + 1}  ${visibleLine(model)}${status === 200 ? '' : `, status ${status}`}` +
      `${end === 'whole' ? '' : `, ${end}`}  (line ${line})`,
    ...asked.flatMap(({ who, text }) => block(who, text)),
    ...block('thinks', said.thought),
    ...block('says', said.text),
    ...said.calls.flatMap(({ name, input }) => block('calls', `${name} ${input}`)),
    ...block('error', said.error ?? ''),
  ].join('\n')

const showParting = ({ path, recorded, now, line, other_line }: Parting): string =>
  [
    `They differ at line ${line ?? '-'} and line ${other_line ?? '-'}: ${visibleLine(path)}`,
    `  recorded  ${visibleLine(recorded)}`,
    `  now       ${visibleLine(now)}`,
  ].join('\n')

/** Nobody is asked there; that the path is the recorded one is what counts. */
const addressOf = ({ path }: ReplayStep): string =>
  `http://127.0.0.1:9${visibleLine(path.replace(/\/(?:chat\/completions|messages|responses|models\/[^/]*)$/u, ''))}`

const playLine = (file: string, step: ReplayStep): string => {
  const { provider, model } = step
  const words = ['--provider', provider, '--provider-base-url', addressOf(step), '--model', visibleLine(model)]
  return [
    'holdfast serve --state-root NEW --api-key none',
    ...words.map(shellWord),
    '--play-cassette',
    shellWord(visibleLine(file)),
  ].join(' ')
}

const showReplay = ({ file, steps, differs }: Replay): string => {
  const first = steps.find(({ once }) => once === undefined)
  const play = first === undefined ? [] : [`Play it without a server: ${playLine(file, first)}`]
  if (differs === null) return `Both go the same way: ${count(steps.length, 'exchange')}.`
  if (differs !== undefined) return showParting(differs)
  return [...steps.map(showStep), ...(steps.length === 0 ? ['Nothing is recorded in it.'] : play)].join('\n')
}

export const commands: readonly Command[] = [
  defineCommand<Replay>({
    path: ['replay'],
    summary:
      'Shows a cassette step by step: what models were asked, said and called. With --compare it says where another ' +
      'recording goes another way, and the exit code is 1 then.',
    args: ['file'],
    alone: true,
    flags: { compare: { kind: 'text', value: 'file', summary: 'A cassette of the same task, recorded later.' } },
    run: async ({ args, flags: { compare } }) => {
      const file = args['file'] ?? ''
      const cassette = await loadCassette(file)
      const found = { file, steps: stepsOf(cassette) }
      if (typeof compare !== 'string') return found
      return { ...found, differs: partingOf(cassette, await loadCassette(compare)) ?? null }
    },
    show: showReplay,
    status: ({ differs }) => (differs === undefined || differs === null ? 0 : 1),
  }),
]
