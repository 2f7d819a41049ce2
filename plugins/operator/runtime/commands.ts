/** What operators look at and change of a running daemon, from the command line. */
import {
  array,
  commandLine,
  defineCommand,
  integer,
  jsonObject,
  open,
  optional,
  parse,
  string,
  visibleLine,
  type Command,
  type CommandFlag,
  type CommandInput,
  type Infer,
  type Json,
  type JsonObject,
  showTime,
} from '../../../core/plugin.js'
import { Changed, changeFields, changeFlags, sendChange, showChanged, valueOf } from './settings/setting-command.js'

const base = '/v1/runtime'

/** Sets one thing that an argument names. */
const setOne = (form: {
  readonly name: string
  readonly path: string
  readonly arg: string
  readonly summary: string
  readonly choices?: readonly string[]
  /** Members of the body that the argument gives under other names. */
  readonly members?: readonly string[]
  readonly body: (text: string) => JsonObject
}): Command =>
  defineCommand({
    path: ['runtime', form.name],
    route: `POST ${base}/${form.path}`,
    summary: form.summary,
    args: [form.arg],
    flags: changeFlags,
    fields: {
      ...changeFields,
      ...Object.fromEntries((form.members ?? []).map((member) => [`body.${member}`, `<${form.arg}>`])),
    },
    ...(form.choices !== undefined && { choices: { [form.arg]: form.choices } }),
    run: (input) => sendChange(input, form.path, form.body(input.args[form.arg] ?? '')),
    answer: Changed,
    show: showChanged,
  })

/** `<route_id>/<model>`, or the model alone. */
const modelOf = (selector: string): JsonObject => {
  const cut = selector.indexOf('/')
  return cut < 1 ? { model: selector } : { provider: selector.slice(0, cut), model: selector.slice(cut + 1) }
}

const Prompt = open({ system_prompt: optional(jsonObject()) })

const promptFlags: Readonly<Record<string, CommandFlag>> = {
  override: { kind: 'text', summary: 'Stands in place of every other prompt, and of the persona.' },
  custom: { kind: 'text', summary: 'Stands in place of the configured prompt.' },
  append: { kind: 'text', summary: 'Stands at the end.' },
  language: { kind: 'text', summary: 'The language to answer in.' },
  'output-style': { kind: 'text', summary: 'The style to answer in.' },
  reset: { kind: 'switch', summary: 'Forget what was set before; what this line names is set all the same.' },
}
const promptMembers = {
  override: 'override_prompt',
  custom: 'custom_prompt',
  append: 'append_prompt',
  language: 'language',
  'output-style': 'output_style',
} as const

/** The daemon takes the whole of it: what is not named is read first. An empty text forgets one. */
const setPrompt = async (input: CommandInput): Promise<Json> => {
  const { client, flags } = input
  const read = parse(Prompt, flags['reset'] === true ? {} : await client.get(base))
  const now = read.ok ? (read.value.system_prompt ?? {}) : {}
  const settings: Record<string, Json | undefined> = {}
  for (const [flag, member] of Object.entries(promptMembers)) {
    const wanted = flags[flag] ?? now[member]
    if (typeof wanted === 'string' && wanted !== '') settings[member] = wanted
  }
  return sendChange(input, 'system-prompt', { settings })
}

const modes = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk']
const Revisions = open({
  revisions: array(
    open({
      revision: integer(),
      updated_at_ms: integer(),
      setting: string(),
      rollback_of_revision: optional(integer()),
      entries: optional(array(open({ name: string(), change: string() }))),
    }),
  ),
  next_before_revision: optional(integer()),
})

const showRevision = (one: Infer<typeof Revisions>['revisions'][number]): string => {
  const entries = one.entries?.map(({ name, change }) => `${name} ${change}`).join(', ')
  const of = one.rollback_of_revision === undefined ? '' : ` to ${one.rollback_of_revision}`
  const what = one.setting + of + (entries === undefined ? '' : `: ${entries}`)
  return `${String(one.revision).padStart(6)}  ${showTime(one.updated_at_ms)}  ${visibleLine(what)}`
}

const showRevisions = ({ revisions, next_before_revision: next }: Infer<typeof Revisions>): string =>
  revisions.length === 0
    ? 'Nothing was changed yet: what the configuration says is in force.'
    : [
        ...revisions.map(showRevision),
        ...(next === undefined ? [] : [`Older ones: ${commandLine(`runtime revisions --before-revision ${next}`)}`]),
      ].join('\n')

export const commands: readonly Command[] = [
  defineCommand({
    path: ['runtime', 'get'],
    route: `GET ${base}`,
    summary: 'How the daemon is set up.',
    run: ({ client }) => client.get(base),
  }),
  defineCommand({
    path: ['runtime', 'revisions'],
    route: `GET ${base}/revisions`,
    summary: 'The changes of settings that can be gone back to, the newest first.',
    flags: {
      'before-revision': { kind: 'text', value: 'number', summary: 'Only older ones than this.' },
    },
    fields: { 'query.before_revision': '--before-revision' },
    run: ({ client, flags: { 'before-revision': before } }) =>
      client.get(
        `${base}/revisions${typeof before === 'string' ? `?before_revision=${encodeURIComponent(before)}` : ''}`,
      ),
    answer: Revisions,
    show: showRevisions,
  }),
  defineCommand({
    path: ['runtime', 'rollback'],
    route: `POST ${base}/rollback`,
    summary:
      'Makes the settings of an earlier revision hold again; those before the last change of one, if none is named.',
    flags: {
      'target-revision': { kind: 'text', value: 'number', summary: '0 is what the configuration says.' },
      ...changeFlags,
    },
    fields: { ...changeFields, 'body.target_revision': '--target-revision' },
    run: (input) => {
      const target = input.flags['target-revision']
      return sendChange(input, 'rollback', typeof target === 'string' ? { target_revision: valueOf(target) } : {})
    },
    answer: Changed,
    show: showChanged,
  }),
  setOne({
    name: 'set-model',
    path: 'model',
    arg: 'model',
    summary: 'The model of runs without a wish of their own: ROUTE/MODEL, or MODEL on the route of now.',
    members: ['provider'],
    body: modelOf,
  }),
  setOne({
    name: 'set-permission-mode',
    path: 'permission-mode',
    arg: 'mode',
    summary: 'What becomes of tools that would ask.',
    choices: modes,
    body: (mode) => ({ mode }),
  }),
  setOne({
    name: 'set-debug-level',
    path: 'debug-level',
    arg: 'level',
    summary: 'How much evidence of runs is kept.',
    choices: ['off', 'on', 'redacted', 'full'],
    body: (level) => ({ level }),
  }),
  defineCommand({
    path: ['runtime', 'set-system-prompt'],
    route: `POST ${base}/system-prompt`,
    summary: 'What models are told; what is not named stays, an empty text forgets.',
    flags: { ...promptFlags, ...changeFlags },
    oneOf: Object.keys(promptFlags).map((flag) => `--${flag}`),
    fields: {
      ...changeFields,
      ...Object.fromEntries(
        Object.entries(promptMembers).map(([flag, member]) => [`body.settings.${member}`, `--${flag}`]),
      ),
    },
    run: setPrompt,
    answer: Changed,
    show: showChanged,
  }),
]
