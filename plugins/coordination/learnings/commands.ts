/** Candidates, learnings and the policy for them from the command line. */
import {
  array,
  defineCommand,
  listedRows,
  pageFlags,
  readRows,
  showRows,
  type Command,
  type CommandFlag,
  type CommandInput,
  type Json,
  type JsonObject,
} from '../../../core/plugin.js'
import {
  learningKinds,
  learningStatuses,
  publishTiers,
  scopeKinds,
  sensitivities,
} from '../../execution/memory/contract.js'
import { setWholeCommand } from '../../operator/runtime/contract.js'
import { candidateStates, policyDecisions } from './record.js'
import {
  CandidateAnswer,
  LearningAnswer,
  marked,
  PolicyAnswer,
  showCandidate,
  showCandidates,
  showLearning,
  showLearnings,
  showPolicy,
  showPublished,
  showRevoked,
  showWholeCandidate,
  showWholeLearning,
} from './terminal.js'

const policyPath = '/v1/runtime/learning-policy'
const candidates = '/v1/learning-candidates'
const learnings = '/v1/learnings'

const text = (summary: string, value?: string): CommandFlag => ({
  kind: 'text',
  summary,
  ...(value !== undefined && { value }),
})

const scopeFlags = {
  'scope-kind': text('session, persona, project or workspace.'),
  'scope-id': text('The id of the scope; none for the workspace.'),
}
const sharedFilters = {
  query: text('Only those with this text in id, scope, kind, content or run of the source.'),
  ...scopeFlags,
  kind: text('Only those of this kind.'),
}
const learningFilters = {
  ...sharedFilters,
  status: text('Only those in this status.'),
  'policy-decision': text('Only those that were decided like this.'),
  'policy-actor': text('Only those that operator or daemon decided about.'),
  'matched-rule-name': text('Only those that this rule of the policy led to.'),
}
const wishFlags = {
  ...scopeFlags,
  kind: text('What it is.'),
  sensitivity: text('Whether models and searches may come upon it.'),
  confidence: text('How sure it is, 0 to 100.', 'number'),
  'expires-at-ms': text('When it ends, Unix ms.', 'ms'),
}
const wishFields = {
  'body.scope.kind': '--scope-kind',
  'body.scope.id': '--scope-id',
}
const reasonFlag = { reason: text('Why; kept with it.') }

const wishChoices = { 'scope-kind': scopeKinds, kind: learningKinds, sensitivity: sensitivities }
const filterChoices = { 'scope-kind': scopeKinds, kind: learningKinds }

/** A number where it is one; the daemon says what is wrong with everything else. */
const valueOf = (said: string): Json => (/^-?\d+$/u.test(said) ? Number(said) : said)
const numbers: ReadonlySet<string> = new Set(['confidence', 'expires-at-ms'])

/** Members of a body from the flags of these names that were given. */
const given = ({ flags }: CommandInput, names: object): JsonObject =>
  Object.fromEntries(
    Object.keys(names).flatMap((name) => {
      const said = flags[name]
      if (typeof said !== 'string') return []
      return [[name.replaceAll('-', '_'), numbers.has(name) ? valueOf(said) : said]]
    }),
  )

/** The same with the scope as one member. */
const wish = (input: CommandInput, names: object): JsonObject => {
  const { scope_kind, scope_id, ...rest } = given(input, names)
  const scope = {
    ...(scope_kind !== undefined && { kind: scope_kind }),
    ...(scope_id !== undefined && { id: scope_id }),
  }
  return { ...rest, ...(Object.keys(scope).length > 0 && { scope }) }
}

const filtered = (input: CommandInput, path: string, names: object): Promise<Json> => {
  const query = Object.entries(given(input, names)).map(([name, said]) => `${name}=${encodeURIComponent(String(said))}`)
  return readRows(input, query.length === 0 ? path : `${path}?${query.join('&')}`)
}

const candidateAt = ({ args }: CommandInput): string =>
  `${candidates}/${encodeURIComponent(args['candidate_id'] ?? '')}`
const learningAt = ({ args }: CommandInput): string => `${learnings}/${encodeURIComponent(args['learning_id'] ?? '')}`

const candidateCommands: readonly Command[] = [
  defineCommand({
    path: ['learnings', 'candidates', 'list'],
    route: `GET ${candidates}`,
    summary: 'What may be learned, by id.',
    flags: { ...sharedFilters, state: text('Only those in this state.'), ...pageFlags },
    choices: { ...filterChoices, state: candidateStates },
    run: (input) => filtered(input, candidates, { ...sharedFilters, state: '' }),
    answer: listedRows(CandidateAnswer),
    show: showRows(showCandidates),
  }),
  defineCommand({
    path: ['learnings', 'candidates', 'get'],
    route: `GET ${candidates}/{candidate_id}`,
    summary: 'One candidate, with what was decided about it.',
    args: ['candidate_id'],
    run: (input) => input.client.get(candidateAt(input)),
    answer: CandidateAnswer,
    show: showWholeCandidate,
  }),
  defineCommand({
    path: ['learnings', 'candidates', 'create'],
    route: `POST ${candidates}`,
    summary: 'Brings something that may be learned, for the workspace unless a scope is named.',
    args: ['content'],
    needs: ['--kind'],
    flags: {
      ...wishFlags,
      session: text('The session that it comes from.'),
      run: text('The run that it comes from.'),
    },
    choices: wishChoices,
    fields: { ...wishFields, 'body.source.session_id': '--session', 'body.source.run_id': '--run' },
    run: (input) => {
      const source = given(input, { session: '', run: '' })
      return input.client.send('POST', candidates, {
        scope: { kind: 'workspace' },
        ...wish(input, wishFlags),
        content: input.args['content'] ?? '',
        source: Object.fromEntries(Object.entries(source).map(([name, id]) => [`${name}_id`, id])),
      })
    },
    answer: CandidateAnswer,
    show: showCandidate,
  }),
  defineCommand({
    path: ['learnings', 'candidates', 'publish'],
    route: `POST ${candidates}/{candidate_id}/publish`,
    summary: 'Makes a learning of a candidate; what is not said is as the candidate has it.',
    args: ['candidate_id', 'content?'],
    flags: {
      ...wishFlags,
      'publish-tier': text('active, or provisional for one that models are not told yet.'),
      supersedes: text('The learning that this one is to stand for.', 'learning_id'),
    },
    choices: { ...wishChoices, 'publish-tier': publishTiers },
    fields: wishFields,
    run: async (input) => {
      const said = {
        ...wish(input, { ...wishFlags, 'publish-tier': '', supersedes: '' }),
        ...(input.args['content'] !== undefined && { content: input.args['content'] }),
      }
      return marked(await input.client.send('POST', `${candidateAt(input)}/publish`, said), said)
    },
    answer: LearningAnswer,
    show: showPublished,
  }),
  defineCommand({
    path: ['learnings', 'candidates', 'reject'],
    route: `POST ${candidates}/{candidate_id}/reject`,
    summary: 'Decides that a candidate is not learned.',
    args: ['candidate_id'],
    run: (input) => input.client.send('POST', `${candidateAt(input)}/reject`),
    answer: CandidateAnswer,
    show: showCandidate,
  }),
]

const learningCommands: readonly Command[] = [
  defineCommand({
    path: ['learnings', 'list'],
    route: `GET ${learnings}`,
    summary: 'Learnings by id, whatever their status.',
    flags: { ...learningFilters, ...pageFlags },
    choices: { ...filterChoices, status: learningStatuses, 'policy-decision': policyDecisions },
    run: (input) => filtered(input, learnings, learningFilters),
    answer: listedRows(LearningAnswer),
    show: showRows(showLearnings),
  }),
  defineCommand({
    path: ['learnings', 'get'],
    route: `GET ${learnings}/{learning_id}`,
    summary: 'One learning.',
    args: ['learning_id'],
    run: (input) => input.client.get(learningAt(input)),
    answer: LearningAnswer,
    show: showWholeLearning,
  }),
  defineCommand({
    path: ['learnings', 'revoke'],
    route: `POST ${learnings}/{learning_id}/revoke`,
    summary: 'Ends a learning for good.',
    args: ['learning_id'],
    flags: reasonFlag,
    run: (input) => input.client.send('POST', `${learningAt(input)}/revoke`, given(input, reasonFlag)),
    answer: LearningAnswer,
    show: showLearning,
  }),
  defineCommand({
    path: ['learnings', 'supersede'],
    route: `POST ${learnings}/{learning_id}/supersede`,
    summary: 'Puts an active learning in the place of one; what is not said is as it was.',
    args: ['learning_id', 'content'],
    flags: wishFlags,
    choices: wishChoices,
    fields: wishFields,
    run: async (input) => {
      const said = { ...wish(input, wishFlags), content: input.args['content'] ?? '' }
      return marked(await input.client.send('POST', `${learningAt(input)}/supersede`, said), said)
    },
    answer: LearningAnswer,
    show: showPublished,
  }),
  defineCommand({
    path: ['learnings', 'revoke-matching'],
    route: `POST ${learnings}/revoke-matching`,
    summary: 'Revokes what fits all of the filters, at most 1000 learnings at once.',
    oneOf: Object.keys(learningFilters).map((name) => `--${name}`),
    flags: { ...learningFilters, ...reasonFlag },
    choices: { ...filterChoices, status: learningStatuses, 'policy-decision': policyDecisions },
    run: (input) =>
      input.client.send('POST', `${learnings}/revoke-matching`, given(input, { ...learningFilters, ...reasonFlag })),
    answer: array(LearningAnswer),
    show: showRevoked,
  }),
]

export const commands: readonly Command[] = [
  defineCommand({
    path: ['runtime', 'learning-policy', 'get'],
    route: `GET ${policyPath}`,
    summary: 'Shows what is done about learnings.',
    run: ({ client }) => client.get(policyPath),
    answer: PolicyAnswer,
    show: showPolicy,
  }),
  setWholeCommand({
    path: 'learning-policy',
    member: 'policy',
    summary: 'Sets what is done about learnings, all of it: what is not named gets its default.',
    reset: { summary: 'Set the defaults.', value: { mode: 'shadow' } },
    others: {
      mode: {
        flag: { kind: 'text', value: 'mode', summary: 'manual_only, shadow or enabled, and defaults for the rest.' },
        value: (mode) => ({ mode }),
      },
    },
  }),
  ...candidateCommands,
  ...learningCommands,
]
