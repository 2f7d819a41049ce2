/** Commands that change settings. */
import {
  array,
  defineCommand,
  integer,
  open,
  optional,
  string,
  visibleLine,
  withMembers,
  type Command,
  type CommandFlag,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../../core/plugin.js'

const base = '/v1/runtime'

/** The flags of every command that changes a setting. */
export const changeFlags: Readonly<Record<string, CommandFlag>> = {
  'expected-revision': { kind: 'text', value: 'number', summary: 'Refuse if the settings are at another revision.' },
  'skip-hooks': { kind: 'switch', summary: 'Ask no hook whether the settings may change.' },
}
/** What of the body they stand for. */
export const changeFields = { 'body.expected_revision': '--expected-revision', 'body.skip_hooks': '--skip-hooks' }

/** What a change answers, as far as commands tell it. */
export const Changed = open({ config: open({ revision: integer(), files_kept: optional(array(string())) }) })
export const showChanged = ({ config: { revision, files_kept = [] } }: Infer<typeof Changed>): string =>
  [
    `Done. The settings are at revision ${revision}.`,
    ...(files_kept.length > 0
      ? [`Files are yours and were not rolled back. Changed since: ${files_kept.map(visibleLine).join(', ')}`]
      : []),
  ].join('\n')

/** A number or a switch where it is one; the daemon says what is wrong with everything else. */
export const valueOf = (text: string): Json => {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+$/u.test(text) ? Number(text) : text
}

/** Asks for a change with the flags of the command. */
export const sendChange = ({ client, flags }: CommandInput, path: string, body: Json): Promise<Json> => {
  const revision = flags['expected-revision']
  const wishes = {
    ...(typeof revision === 'string' && { expected_revision: valueOf(revision) }),
    ...(flags['skip-hooks'] === true && { skip_hooks: true }),
  }
  return client.send('POST', `${base}/${path}`, withMembers(body, wishes))
}

/** A setting that is set whole, by a body from a file or from standard input. */
export interface WholeSetting {
  /** Such as `hooks`, behind `holdfast runtime` and `/v1/runtime/`. */
  readonly path: string
  /** The member of the body that has the value. */
  readonly member: string
  readonly summary: string
  readonly reset: { readonly summary: string; readonly value: Json }
  /** Flags that stand for a value too, each with what it makes of its text. */
  readonly others?: Readonly<Record<string, { readonly flag: CommandFlag; value(text: string): Json }>>
}

/** The body; of one that a file or standard input gives the daemon says whether it can be. */
const bodyOf = async ({ flags, json }: CommandInput, { member, reset, others = {} }: WholeSetting): Promise<Json> => {
  if (flags['reset'] === true) return { [member]: reset.value }
  for (const [name, { value }] of Object.entries(others)) {
    const text = flags[name]
    if (typeof text === 'string') return { [member]: value(text) }
  }
  return (await json('file')) ?? null
}

/** `holdfast runtime <path> set`. */
export const setWholeCommand = (form: WholeSetting): Command => {
  const others = Object.entries(form.others ?? {})
  return defineCommand({
    path: ['runtime', form.path, 'set'],
    route: `POST ${base}/${form.path}`,
    summary: form.summary,
    flags: {
      ...Object.fromEntries(others.map(([name, { flag }]) => [name, flag])),
      file: { kind: 'text', value: 'file', summary: 'Read it from this file, as JSON.' },
      stdin: { kind: 'switch', summary: 'Read it from standard input.' },
      reset: { kind: 'switch', summary: form.reset.summary },
      ...changeFlags,
    },
    oneOf: [...others.map(([name]) => `--${name}`), '--file', '--stdin', '--reset'],
    fields: {
      ...changeFields,
      'body.*': ['--file', '--stdin'],
      [`body.${form.member}`]: ['--reset', ...others.map(([name]) => `--${name}`)],
      ...Object.fromEntries(others.map(([name]) => [`body.${form.member}.${name}`, `--${name}`])),
    },
    run: async (input) => sendChange(input, form.path, await bodyOf(input, form)),
    answer: Changed,
    show: showChanged,
  })
}
