/** What operators set as hooks, and whether it can be. */
import {
  array,
  defaulted,
  doc,
  enums,
  integer,
  literal,
  named,
  nearest,
  object,
  optional,
  record,
  refusedUrl,
  string,
  tagged,
  visibleLine,
  type Infer,
} from '../../../core/plugin.js'
import { laterMoments, momentFacts, moments } from '../../execution/interception/contract.js'
import { GenerationSettings } from '../../execution/models/contract.js'
import { ToolSurface } from '../../execution/sessions/contract.js'
import { hookErrors } from './errors.js'
import { matcherFault } from './matching/matcher.js'

const timeout = {
  timeout_ms: optional(
    doc(integer({ min: 1, max: 600_000 }), 'For all attempts together; 60,000 when absent. Milliseconds.'),
  ),
}
const text = () => string({ min: 1, max: 10_000 })

const Model = object({
  provider: optional(doc(string({ min: 1, max: 200 }), 'The route_id; that of the session when absent.')),
  generation: optional(
    doc(GenerationSettings, 'With model, max_output_tokens, temperature and reasoning; no other member.'),
  ),
})

const Prompt = object({
  type: literal('prompt'),
  template: doc(text(), 'What the model is asked about the invocation, which it reads before it, as JSON.'),
  system_prompt: optional(doc(text(), 'Stands before what every model is told that is asked by a hook.')),
  model: optional(Model),
  ...timeout,
})
export type PromptExecutor = Infer<typeof Prompt>

const Agent = object({
  type: literal('agent'),
  template: doc(text(), 'What the agent is to find out about the invocation, which it reads as JSON.'),
  system_prompt: optional(doc(text(), 'Stands before what every agent is told that is asked by a hook.')),
  model: optional(Model),
  tool_surface: optional(doc(ToolSurface, 'Tools that it keeps to; it only reads in any case.')),
  max_turns: optional(
    doc(
      integer({ min: 1, max: 1_000_000 }),
      'Model answers, at most; those of any run when absent. One more fails it.',
    ),
  ),
  ...timeout,
})
export type AgentExecutor = Infer<typeof Agent>

/** Every executor names its type, so that one that is not there can be refused with a sentence. */
const Executor = tagged('type', {
  command: object({
    type: literal('command'),
    command: doc(text(), 'What the shell runs. It reads the invocation as JSON on standard input.'),
    shell: optional(doc(enums(['bash', 'sh']), 'bash when absent, or sh where there is none.')),
    ...timeout,
  }),
  http: object({ type: literal('http'), url: doc(text(), 'Gets the invocation as JSON by POST.'), ...timeout }),
  callback: object({ type: literal('callback'), name: doc(text(), 'What a plugin contributed.'), ...timeout }),
  prompt: Prompt,
  agent: Agent,
})

/** What a hook is beside its name. */
export const hookFields = {
  matcher: optional(
    doc(
      string({ max: 200 }),
      'What the subject must be: a name, `*`, names with `|` between them, or a regular expression for all of it.',
    ),
  ),
  failure_policy: optional(
    object({
      mode: defaulted(
        doc(enums(['open', 'closed']), 'What a hook that fails means: `open` nothing, `closed` a refusal.'),
        'open',
      ),
      max_retries: defaulted(doc(integer({ min: 0, max: 255 }), 'Above 5 is 5.'), 0),
    }),
  ),
  executor: Executor,
}

export const HookDefinition = named(
  'HookDefinition',
  object({
    name: doc(string({ min: 1, max: 200 }), 'Names it in rulings, in the ledger and in dead letters.'),
    ...hookFields,
  }),
)
export type HookDefinition = Infer<typeof HookDefinition>

/** However they were set. */
export const mostOfMoment = 100

/** Hooks by moment, in the order in which they are asked, as operators set them. */
export const HookMap = record(array(HookDefinition, { max: mostOfMoment }))
export type HookMap = Infer<typeof HookMap>

export const defaultTimeoutMs = 60_000
export const mostRetries = 5

const later: ReadonlySet<string> = new Set(laterMoments)
const known: ReadonlySet<string> = new Set([...moments, ...laterMoments])

/** Moments that hooks are set for and that nothing fires yet. */
export const notFired = (hooks: HookMap): string[] =>
  Object.keys(hooks).filter((event) => later.has(event) && hooks[event]?.length !== 0)

export interface CheckParts {
  readonly allow_cidrs: () => readonly string[]
  /** Names of callbacks; when absent any will do. */
  readonly callbacks?: () => ReadonlySet<string>
  /** Ids of model routes; when absent any will do. */
  readonly routes?: () => readonly string[]
}

const hostFault = (url: string): string | undefined =>
  URL.canParse(url) && /[*?{}$]/u.test(new URL(url).hostname) ? 'must name one host' : undefined

const ofRuns = ['fallback_model', 'tool_choice', 'allow_parallel_tool_calls', 'response_format'] as const

const modelFault = (
  { model = {} }: PromptExecutor | AgentExecutor,
  routes: CheckParts['routes'],
): string | undefined => {
  const { provider, generation = {} } = model
  const strange = ofRuns.find((member) => generation[member] !== undefined)
  if (strange !== undefined) return `its model.generation has ${strange}, which is for runs alone.`
  return provider === undefined || routes?.().includes(provider) !== false
    ? undefined
    : `there is no model route ${visibleLine(provider)}.`
}

/** Why a hook could not be asked now. */
export const executorFault = ({ executor }: HookDefinition, parts: CheckParts): string | undefined => {
  const { allow_cidrs, callbacks, routes } = parts
  switch (executor.type) {
    case 'command':
      return executor.command.includes('\0') ? 'its command holds a NUL character.' : undefined
    case 'http': {
      const fault = refusedUrl(executor.url, { allow_cidrs: allow_cidrs() }) ?? hostFault(executor.url)
      const way = fault?.includes('private') === true ? ' that allow_cidrs of config/hooks.toml has not' : ''
      return fault === undefined ? undefined : `its url ${fault}${way}.`
    }
    case 'callback':
      return callbacks?.().has(executor.name) !== false ? undefined : 'no plugin contributes a callback of that name.'
    case 'prompt':
    case 'agent':
      return modelFault(executor, routes)
  }
}

const momentFault = (event: string): string | undefined => {
  if (known.has(event)) return undefined
  const meant = nearest(event.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, '_').toLowerCase(), known)
  const hint = meant === undefined ? 'docs/reference/hooks.md has them all' : `did you mean ${meant}?`
  return `the moment ${event.slice(0, 100)} does not exist in this daemon; ${hint}`
}

const ownMatcherFault = ({ matcher }: HookDefinition): string | undefined => {
  const fault = matcher === undefined ? undefined : matcherFault(matcher)
  return fault === undefined ? undefined : `its matcher ${fault}`
}

const definitionFault = (definition: HookDefinition, parts: CheckParts): string | undefined =>
  ownMatcherFault(definition) ?? executorFault(definition, parts)

/** What keeps these hooks from being, with the hook's name. */
const faultOfHooks = (hooks: HookMap, parts: CheckParts): string | undefined => {
  for (const [event, definitions] of Object.entries(hooks)) {
    const moment = momentFault(event)
    if (moment !== undefined) return moment
    for (const definition of definitions) {
      const fault = definitionFault(definition, parts)
      if (fault !== undefined) return `${event}, ${definition.name}: ${fault}`
    }
  }
  return undefined
}

/** What is wrong with a hook, with the member that it is about. */
export interface HookFault {
  readonly member: string
  readonly fault: string
}

/** Of an executor that is wrong, the member that is. */
const faultyMembers = { command: 'command', http: 'url', callback: 'name', prompt: 'model', agent: 'model' } as const

/** What keeps one hook for one moment from being, or from ever being asked; undefined if nothing does. */
export const faultOfHook = (event: string, definition: HookDefinition, parts: CheckParts): HookFault | undefined => {
  const told = (member: string, fault: string | undefined): HookFault | undefined =>
    fault === undefined ? undefined : { member, fault }
  return (
    told('event', momentFault(event)) ??
    told('matcher', ownMatcherFault(definition)) ??
    told(`executor.${faultyMembers[definition.executor.type]}`, executorFault(definition, parts)) ??
    told('matcher', neverMatches(event, definition))
  )
}

/** Throws `invalid_hook_settings`, which names the hook. */
export const checkHooks = (hooks: HookMap, parts: CheckParts): void => {
  const reason = faultOfHooks(hooks, parts)
  if (reason !== undefined) throw hookErrors.invalid_hook_settings({ details: { reason } })
}

/** Moments that are about something which matchers look at. */
const withSubject: ReadonlySet<string> = new Set(moments.filter((event) => momentFacts[event].subject !== undefined))

const neverMatches = (event: string, { matcher = '*' }: HookDefinition): string | undefined =>
  withSubject.has(event) || later.has(event) || matcher === '' || matcher === '*'
    ? undefined
    : `its matcher never matches, because ${event} has no subject.`

/** Throws `invalid_hook_settings` for a hook that would never be asked. One that is kept already may stay. */
export const checkMatchers = (hooks: HookMap): void => {
  for (const [event, definitions] of Object.entries(hooks))
    for (const definition of definitions) {
      const fault = neverMatches(event, definition)
      if (fault !== undefined)
        throw hookErrors.invalid_hook_settings({ details: { reason: `${event}, ${definition.name}: ${fault}` } })
    }
}
