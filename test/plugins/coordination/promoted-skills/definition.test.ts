import { hash } from 'node:crypto'
import test from 'ava'
import { parse } from 'yaml'
import {
  definitionOf,
  differenceOf,
  fingerprintOf,
  type Definition,
} from '../../../../plugins/coordination/promoted-skills/definition.js'
import { filesOf } from '../../../../plugins/coordination/promoted-skills/files.js'
import { readSkill } from '../../../../plugins/operator/skills/skill-file.js'

const whole: Definition = {
  skill_name: 'release:notes-1',
  description: 'Writes: "notes" # and \\ more\u{fffe}, 漢字 🙂',
  when_to_use: "- 'when' {asked}",
  version: '1.10',
  instructions: '---\nname: other\n---\nRead the log.\r\n\n```yaml\na: b\n```',
  runtime: {
    allowed_tools: ['read_file', 'mcp__a__*', 'no'],
    blocked_tools: ['bash'],
    context: 'fork',
    agent_profile: 'verification',
    provider: 'p: q',
    model: '1e3',
    fallback_model: 'true',
  },
}
const bare: Definition = {
  skill_name: '123',
  description: 'null',
  instructions: 'x',
  runtime: { allowed_tools: [], context: 'fork', agent_profile: 'verification' },
}

test('promoted-skills-7: the fingerprint is of each part behind its name, a NUL behind either', (t) => {
  const runtime = '{"allowed_tools":[],"context":"fork","agent_profile":"verification"}'
  const parts = ['name', '123', 'description', 'null', 'when_to_use', '', 'version', '', 'instructions', 'x']
  t.is(fingerprintOf(bare), hash('sha256', [...parts, 'runtime', runtime, ''].join('\0')))
  t.is(fingerprintOf({ ...bare, instructions: ' x\n' }), fingerprintOf(bare))
  const others = [
    { skill_name: '124' },
    { description: 'nulls' },
    { when_to_use: 'x' },
    { version: 'x' },
    { instructions: 'y' },
    { runtime: { ...bare.runtime, model: 'm' } },
  ]
  t.is(new Set([bare, ...others.map((other) => ({ ...bare, ...other }))].map(fingerprintOf)).size, 7)
})

test('promoted-skills-19: the files say the same to our loader and to any reader of YAML', (t) => {
  for (const definition of [whole, bare]) {
    const { 'SKILL.md': text, 'agents/service.yaml': side } = filesOf(definition)
    const [, head = '', body = ''] = /^---\n([^]*?)\n---\n([^]*)$/u.exec(text) ?? []
    const { skill_name: name, description, when_to_use, version, instructions, runtime } = definition
    t.deepEqual(parse(head), JSON.parse(JSON.stringify({ name, description, version, when_to_use })))
    t.deepEqual(parse(side), runtime)
    t.is(body.trim(), instructions)
    const read = readSkill({ path: 'a/SKILL.md', root: '/r', scope: 'explicit', text, side }, (yaml) =>
      parse(yaml, { schema: 'failsafe' }),
    )
    if (!read.ok) return t.fail(read.rule)
    t.is(differenceOf(definition, { ...read.skill.summary, instructions: read.skill.instructions }), undefined)
  }
})

test('promoted-skills-21: every part in which a loaded skill is another is told', (t) => {
  const loaded = { name: '123', ...bare }
  t.is(differenceOf(bare, loaded), undefined)
  t.is(differenceOf(bare, { ...loaded, instructions: 'x\n' }), undefined)
  for (const [name, change] of Object.entries({
    name: { name: '1' },
    description: { description: 'x' },
    when_to_use: { when_to_use: 'x' },
    version: { version: 'x' },
    instructions: { instructions: 'y' },
    settings: { runtime: { ...bare.runtime, context: 'inline' } },
  }))
    t.is(differenceOf(bare, { ...loaded, ...change }), name)
  t.is(differenceOf(bare, { ...loaded, runtime: { ...bare.runtime, more: 1 } }), 'settings')
})

test('promoted-skills-2, promoted-skills-4: blank texts are none, and what is left out is as it was', (t) => {
  const blank = { description: ' ', when_to_use: '', version: '\n', provider: ' ', context: '', agent_profile: ' ' }
  const wish = { skill_name: 'notes', instructions: ' Do. ', ...blank }
  const first = definitionOf(wish, undefined)
  t.deepEqual(first, {
    skill_name: 'notes',
    description: 'Has an agent of its own work by a procedure that this workspace has learned.',
    instructions: 'Do.',
    runtime: { context: 'fork', agent_profile: 'verification' },
  })
  const lines = definitionOf({ ...wish, description: ' a\n b ', when_to_use: 'c\td', model: ' m ' }, undefined)
  t.like(lines, { description: 'a b', when_to_use: 'c d', runtime: { model: 'm' } })
  t.deepEqual(definitionOf({ skill_name: 'notes', instructions: 'New.' }, { ...lines, version: '2' }), {
    ...first,
    description: 'a b',
    when_to_use: 'c d',
    version: '2',
    instructions: 'New.',
  })
})
