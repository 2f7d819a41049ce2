/** Goals from the command line. */
import {
  commandLine,
  count,
  defineCommand,
  enums,
  integer,
  namedLine,
  open,
  optional,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
  type JsonObject,
} from '../../../core/plugin.js'
import { goalStatuses } from '../../execution/sessions/contract.js'

const route = '/v1/sessions/{session_id}/goal'
const pathOf = ({ args }: CommandInput): string => `/v1/sessions/${encodeURIComponent(args['session_id'] ?? '')}/goal`

const Answer = open({
  goal: optional(
    open({
      session_id: string(),
      objective: string(),
      status: enums(goalStatuses),
      tokens_used: integer(),
      turns: integer(),
      token_budget: optional(integer()),
      stop_reason: optional(string()),
    }),
  ),
})

const named = namedLine(9)

const show = ({ goal }: Infer<typeof Answer>): string => {
  if (goal === undefined) return 'The session has no goal.'
  const { session_id, objective, status, tokens_used, token_budget, turns, stop_reason } = goal
  const budget = token_budget === undefined ? '' : ` of ${token_budget}`
  return [
    visibleLine(objective),
    `${status}, ${count(turns, 'run')}, ${tokens_used}${budget} tokens`,
    ...named('because', stop_reason),
    ...named('next', status === 'paused' ? commandLine('goals resume', session_id) : undefined),
  ].join('\n')
}

const budgetFlag = {
  'token-budget': { kind: 'text', value: 'tokens', summary: 'Tokens of input and output that it may use in all.' },
} as const
const budgetFlags = {
  ...budgetFlag,
  'clear-token-budget': { kind: 'switch', summary: 'It has no budget of its own any more.' },
} as const

/** A number where it is one; the daemon says what is wrong with everything else. */
const budgetOf = ({ flags: { 'token-budget': given, 'clear-token-budget': clears } }: CommandInput): JsonObject => ({
  ...(typeof given === 'string' && { token_budget: /^-?\d+$/u.test(given) ? Number(given) : given }),
  ...(clears === true && { clear_token_budget: true }),
})

/** Changes its state. */
const toStatus = (word: string, status: string, summary: string): Command =>
  defineCommand({
    path: ['goals', word],
    route: `PATCH ${route}`,
    summary,
    args: ['session_id'],
    ...(status === 'active' && { flags: budgetFlags }),
    run: (input): Promise<Json> => input.client.send('PATCH', pathOf(input), { status, ...budgetOf(input) }),
    answer: Answer,
    show,
  })

export const commands: readonly Command[] = [
  defineCommand({
    path: ['goals', 'get'],
    route: `GET ${route}`,
    summary: 'What a session works towards by itself.',
    args: ['session_id'],
    run: (input) => input.client.get(pathOf(input)),
    answer: Answer,
    show,
  }),
  defineCommand({
    path: ['goals', 'set'],
    route: `POST ${route}`,
    summary: 'Sets what a session without a goal works towards: runs are made until it is reached, or its bounds are.',
    args: ['session_id', 'objective'],
    flags: { ...budgetFlag, paused: { kind: 'switch', summary: 'Do not begin yet.' } },
    fields: { 'body.status': '--paused' },
    run: (input) =>
      input.client.send('POST', pathOf(input), {
        objective: input.args['objective'] ?? '',
        ...budgetOf(input),
        ...(input.flags['paused'] === true && { status: 'paused' }),
      }),
    answer: Answer,
    show,
  }),
  defineCommand({
    path: ['goals', 'change'],
    route: `PATCH ${route}`,
    summary: 'Changes what a goal says; what is not named stays, and what it has used counts on.',
    args: ['session_id'],
    flags: { objective: { kind: 'text', summary: 'What it says from now on.' }, ...budgetFlags },
    oneOf: ['--objective', '--token-budget', '--clear-token-budget'],
    run: (input) =>
      input.client.send('PATCH', pathOf(input), {
        ...(typeof input.flags['objective'] === 'string' && { objective: input.flags['objective'] }),
        ...budgetOf(input),
      }),
    answer: Answer,
    show,
  }),
  toStatus('pause', 'paused', 'Makes no further run; one that is under way goes on to its end.'),
  toStatus('resume', 'active', 'Has a goal go on that was paused or stopped.'),
  toStatus('complete', 'complete', 'Says that the goal is reached.'),
  defineCommand({
    path: ['goals', 'clear'],
    route: `DELETE ${route}`,
    summary: 'Forgets the goal of a session.',
    args: ['session_id'],
    run: (input) => input.client.send('DELETE', pathOf(input)),
    answer: Answer,
    show,
  }),
]
