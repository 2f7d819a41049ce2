/** Hooks from the command line. */
import {
  array,
  commandErrors,
  count,
  defineCommand,
  fault,
  namedLine,
  jsonObject,
  object,
  ofFile,
  open,
  optional,
  outline,
  parse,
  showTime,
  showWrong,
  string,
  visibleLine,
  withWrong,
  wrongField,
  type Client,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { setWholeCommand } from '../runtime/contract.js'
import { DeadLetter } from './dead-letters.js'

const base = '/v1/runtime/hooks'

const DeadLetters = object({ dead_letters: array(DeadLetter) })

const detail = namedLine(8)
const showDeadLetter = (letter: DeadLetter): string =>
  [
    `${letter.id}  ${visibleLine(letter.hook_name)}  ${letter.resolved_at_ms === undefined ? 'open' : 'resolved'}`,
    ...detail('event', visibleLine([letter.event, letter.subject ?? ''].join(' ').trim())),
    ...detail('failed', `${showTime(letter.at_ms)}, after ${count(letter.attempt_count, 'attempt')}`),
    ...detail('run', letter.run_id),
    ...detail('session', letter.session_id),
    ...detail('asked', letter.target),
    ...detail('error', letter.error),
    ...detail('found', letter.resolution_reason),
  ].join('\n')

const howToResolve =
  'Resolve one: holdfast runtime hooks resolve-dead-letter ID. All of a hook: the same with --hook NAME.'
const showDeadLetters = ({ dead_letters }: Infer<typeof DeadLetters>): string => {
  if (dead_letters.length === 0) return 'No invocation of a hook failed for good.'
  const isOpen = dead_letters.some(({ resolved_at_ms }) => resolved_at_ms === undefined)
  return [...dead_letters.map(showDeadLetter), ...(isOpen ? [howToResolve] : [])].join('\n')
}

/** Ids of the dead letters of a hook that nobody has resolved. */
const unresolvedOf = async (client: Client, hook: string): Promise<readonly string[]> => {
  const answer = parse(DeadLetters, await client.get(`${base}/dead-letter`))
  if (!answer.ok) throw fault('the daemon answered with no dead letters')
  const ofHook = answer.value.dead_letters.filter(
    ({ hook_name, resolved_at_ms }) => hook_name === hook && resolved_at_ms === undefined,
  )
  return ofHook.map(({ id }) => id)
}

/** One, or all of a hook. */
const resolve = async ({ client, args, flags }: CommandInput): Promise<Json> => {
  const { dead_letter_id: named } = args
  const { hook, reason } = flags
  const body = typeof reason === 'string' ? { reason } : {}
  const resolveOne = (id: string): Promise<Json> =>
    client.send('POST', `${base}/dead-letter/${encodeURIComponent(id)}/resolve`, body)
  if (typeof hook !== 'string') return resolveOne(named ?? '')
  if (named !== undefined)
    throw commandErrors.flag_invalid({ details: { flag: 'hook', problem: 'does not go with <dead_letter_id>' } })
  const dead_letters: Json[] = []
  for (const id of await unresolvedOf(client, hook)) dead_letters.push(await resolveOne(id))
  return { dead_letters }
}

const Resolved = open({
  hook_name: optional(string()),
  dead_letters: optional(array(open({ hook_name: string() }))),
})

const showResolved = ({ hook_name, dead_letters }: Infer<typeof Resolved>): string => {
  const [of] = dead_letters ?? [{ hook_name: hook_name ?? '' }]
  if (of === undefined)
    return 'Nothing to resolve: no dead letter of this hook is open. All: holdfast runtime hooks dead-letter'
  return `${count(dead_letters?.length ?? 1, 'dead letter')} of ${visibleLine(of.hook_name)} resolved.`
}

const InForce = open({ hooks: jsonObject(), wrong: wrongField })

const noHooks = 'No hooks are in force. Set some in config/hooks.toml, or: holdfast runtime hooks set --file FILE'
const showHooks = ({ hooks, wrong }: Infer<typeof InForce>): string =>
  showWrong(Object.keys(hooks).length === 0 ? [] : [outline(hooks)], noHooks, wrong).join('\n')

export const commands: readonly Command[] = [
  setWholeCommand({
    path: 'hooks',
    member: 'hooks',
    summary: 'Sets all hooks: what a file or standard input says, as JSON with the member hooks.',
    reset: {
      summary: 'Set none: those of config/hooks.toml are off too, until runtime rollback takes it back.',
      value: {},
    },
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'get'],
    route: `GET ${base}`,
    summary: 'The hooks in force, with their secrets.',
    run: async (input) => withWrong(input, ofFile('hooks'), await input.client.get(base)),
    answer: InForce,
    show: showHooks,
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'dead-letter'],
    route: `GET ${base}/dead-letter`,
    summary: 'Invocations that failed for good.',
    run: ({ client }) => client.get(`${base}/dead-letter`),
    answer: DeadLetters,
    show: showDeadLetters,
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'resolve-dead-letter'],
    route: `POST ${base}/dead-letter/{dead_letter_id}/resolve`,
    summary: 'Says that somebody has looked at a failed invocation, or at all of a hook.',
    args: ['dead_letter_id?'],
    flags: {
      hook: { kind: 'text', summary: 'All of the hook of this name that are not resolved.' },
      reason: { kind: 'text', summary: 'What was found.' },
    },
    oneOf: ['<dead_letter_id>', '--hook'],
    fields: { 'body.reason': '--reason' },
    run: resolve,
    answer: Resolved,
    show: showResolved,
  }),
]
