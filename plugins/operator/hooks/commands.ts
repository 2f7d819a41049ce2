/** Hooks from the command line. */
import {
  array,
  commandErrors,
  count,
  defineCommand,
  fault,
  jsonObject,
  object,
  ofFile,
  open,
  optional,
  outline,
  parse,
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
