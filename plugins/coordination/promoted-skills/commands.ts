/** Promoted skills from the command line. */
import {
  defineCommand,
  isJsonObject,
  listedRows,
  pageFlags,
  readRows,
  showRows,
  type Command,
  type CommandFlag,
  type CommandInput,
  type JsonObject,
  withMembers,
} from '../../../core/plugin.js'
import { rolloutKinds, rolloutStatuses, skillStatuses } from './record.js'
import { CountedSkill, showCounted, showSkill, showSkills, showWhole, Skill, WholeSkill } from './skill-text.js'

const skills = '/v1/learning-skills'

const text = (summary: string, value?: string): CommandFlag => ({
  kind: 'text',
  summary,
  ...(value !== undefined && { value }),
})
const several = (summary: string): CommandFlag => ({ ...text(summary, 'tool'), several: true })

const lines = {
  description: text('What it is, in a line.'),
  'when-to-use': text('When a model is to use it, in a line.'),
  version: text('Its version.'),
  instructions: text('What its agent is told; without it and settings, both stay as they are.'),
  provider: text('The provider of the model of its agent.'),
  model: text('The model of its agent.'),
  'fallback-model': text('The model that is asked when the first one fails.'),
  status: text('How far its rollout is to be: draft, verified, canary or active.'),
}
const lists = {
  'allowed-tools': several('A tool that its agent may call, and no other; may be given again.'),
  'blocked-tools': several('A tool that its agent may not call; may be given again.'),
}
const files: Readonly<Record<string, CommandFlag>> = {
  file: { kind: 'text', value: 'file', summary: 'Read the rest of it from this file of JSON.' },
  stdin: { kind: 'switch', summary: 'Read the rest of it as JSON from standard input.' },
  'promotion-json': { kind: 'text', value: 'json', summary: 'The rest of it as JSON.' },
}
/** A field in a file is told by its place there, one that a flag gave by that flag. */
const lineFields = Object.fromEntries(
  Object.keys(lines).map((name) => [`body.${name.replaceAll('-', '_')}`, `--${name}`]),
)
const reasonFlag = { reason: text('Why; kept with it.') }

/** Members of a body from the flags of these names that were given. */
const given = ({ flags }: CommandInput, names: object): JsonObject =>
  Object.fromEntries(
    Object.keys(names).flatMap((name) => {
      const said = flags[name]
      return typeof said === 'string' ? [[name.replaceAll('-', '_'), said]] : []
    }),
  )
const listed = (input: CommandInput, names: object): JsonObject =>
  Object.fromEntries(
    Object.keys(names).flatMap((name) => {
      const said = input.all(name)
      return said.length > 0 ? [[name.replaceAll('-', '_'), [...said]]] : []
    }),
  )

const skillAt = ({ args }: CommandInput): string => `${skills}/${encodeURIComponent(args['skill_name'] ?? '')}`

export const commands: readonly Command[] = [
  defineCommand({
    path: ['learnings', 'promote-skill'],
    route: 'POST /v1/learnings/{learning_id}/promote-skill',
    summary: 'Makes a skill of a procedure that was learned, or takes it a step further.',
    args: ['learning_id', 'skill_name'],
    flags: { ...lines, ...lists, ...files },
    oneOf: ['--instructions', '--status', '--file', '--stdin', '--promotion-json'],
    choices: { status: rolloutStatuses },
    fields: {
      ...lineFields,
      'body.skill_name': '<skill_name>',
      'body.allowed_tools.*': '--allowed-tools',
      'body.blocked_tools.*': '--blocked-tools',
      'body.*': ['--file', '--stdin', '--promotion-json'],
    },
    run: async (input) => {
      const rest = await input.json('promotion-json')
      return input.client.send(
        'POST',
        `/v1/learnings/${encodeURIComponent(input.args['learning_id'] ?? '')}/promote-skill`,
        withMembers(rest, {
          ...given(input, lines),
          ...listed(input, lists),
          skill_name: input.args['skill_name'] ?? '',
        }),
      )
    },
    answer: Skill,
    show: showSkill,
  }),
  defineCommand({
    path: ['learning-skills', 'list'],
    route: `GET ${skills}`,
    summary: 'Promoted skills by name, also those that are revoked.',
    flags: {
      'source-learning-id': text('Only those of this learning.', 'learning_id'),
      status: text('Only those in this status.'),
      ...pageFlags,
    },
    choices: { status: skillStatuses },
    run: (input) => {
      const query = Object.entries(given(input, { 'source-learning-id': '', status: '' })).map(
        ([name, said]) => `${name}=${encodeURIComponent(String(said))}`,
      )
      return readRows(input, query.length === 0 ? skills : `${skills}?${query.join('&')}`)
    },
    answer: listedRows(Skill),
    show: showRows(showSkills),
  }),
  defineCommand({
    path: ['learning-skills', 'get'],
    route: `GET ${skills}/{skill_name}`,
    summary: 'One promoted skill, with what has become of it.',
    args: ['skill_name'],
    run: (input) => input.client.get(skillAt(input)),
    answer: WholeSkill,
    show: showWhole,
  }),
  defineCommand({
    path: ['learning-skills', 'rollout-result'],
    route: `POST ${skills}/{skill_name}/rollout-result`,
    summary:
      'Records what a run has shown of a promoted skill. Good is a run that completed with <marker> in its last ' +
      'output: a text that you choose, in which case counts.',
    args: ['skill_name', 'run_id', 'marker'],
    fields: { 'body.expected_output_contains': '<marker>' },
    needs: ['--kind'],
    flags: {
      kind: text('verification of a draft, or canary.'),
      'definition-fingerprint': text('Refused if the skill says something else by now.', 'sha256'),
    },
    choices: { kind: rolloutKinds },
    run: async (input) => {
      const { run_id = '', marker = '' } = input.args
      const answer = await input.client.send('POST', `${skillAt(input)}/rollout-result`, {
        ...given(input, { kind: '', 'definition-fingerprint': '' }),
        run_id,
        expected_output_contains: marker,
      })
      return input.output === 'pretty' && isJsonObject(answer) ? { ...answer, shown_run_id: run_id } : answer
    },
    answer: CountedSkill,
    show: showCounted,
  }),
  ...(['revoke', 'rollback'] as const).map((name) =>
    defineCommand({
      path: ['learning-skills', name],
      route: `POST ${skills}/{skill_name}/${name}`,
      summary:
        name === 'revoke'
          ? 'Ends a promoted skill: no model uses it any more.'
          : 'Makes a promoted skill what it was when it was active the last time.',
      args: ['skill_name'],
      flags: reasonFlag,
      run: (input) => input.client.send('POST', `${skillAt(input)}/${name}`, given(input, reasonFlag)),
      answer: Skill,
      show: showSkill,
    }),
  ),
]
