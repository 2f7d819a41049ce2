/** The pages on channels and projects and their two examples are true: their lines are run as somebody who pastes them. */
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, mainFile } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, repository, sh } from '../support/docs.js'

interface Page {
  readonly page: string
  readonly names: readonly string[]
  readonly example?: string
}

/** What each block printed, and the folder in which it was pasted. */
const paste = async (t: ExecutionContext, { page, names, example }: Page) => {
  const folder = await freshRoot()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  if (example !== undefined) cpSync(join(repository, example), join(folder, example), { recursive: true })
  const daemon = await startMortal(t, { flags: ['--workspace-root', folder] })
  const holdfast = `SERVICE_DAEMON_URL=${daemon.url} '${process.execPath}' '${mainFile}' "$@"`
  const script = names.map((name) => `echo "## ${name}"\n${blocksFor(page, name).join('\n')}\necho\n`).join('')
  const { code, out, err } = await sh(`set -e\nholdfast() { ${holdfast}; }\n${script}`, folder, 240_000)
  t.deepEqual([code, err], [0, ''], out)
  await daemon.stop()
  const [, ...printed] = out.split(/^## [\w-]+$/mu)
  return { printed, folder }
}

test('a trip is planned in a channel, exactly as printed', async (t) => {
  const names = ['trip-members', 'trip-question', 'trip-again', 'trip-asks', 'trip-allowed', 'trip-stimuli']
  const example = 'docs/examples/trip'
  const { printed, folder } = await paste(t, { page: `${example}/README.md`, names, example })
  const [members = '', question = '', again = '', asks = '', allowed = '', stimuli = ''] = printed
  t.regex(members, /scout {2}Scout {2}session scout[^]*ann {2}Ann {2}a person/u)
  t.regex(
    question,
    /shall we go[^]* {2}Scout\n[^]*The lake: [^]* {2}Purse\n[^]*comes to 80[^]* {2}Scout\n[^]*book it today/u,
  )
  t.regex(question, /channel trip {2}quiet[^]*As many messages of agents[^]*holdfast channels post --thread message_/u)
  t.regex(again, /With a tent it is 30/u)
  t.regex(
    asks,
    /Scout waits for a person\n {6}holdfast approvals allow [^\n]*\n {2}- It asks to use write_file[^]*\nScout has the floor, waiting_for_approval\n {2}since [^\n]*\n[^]*next Purse; 3 messages of agents may still follow\n/u,
  )
  t.regex(
    asks,
    /run run_\w+ {2}waiting_for_approval {2}scout[^]*has the floor in the channel "trip" to answer message_/u,
  )
  t.regex(allowed, /The plan is in plan\.md\.\n[^]*# The lake/u)
  t.regex(readFileSync(join(folder, 'plan.md'), 'utf8'), /^# The lake/u)
  t.regex(stimuli, /Holdfast {2}[^]*rain on Sunday[^]*the quiet period is not over\n {4}The hut has a new oven\./u)
})

test('a leaflet is made in a project, exactly as printed', async (t) => {
  const names = ['leaflet-project', 'leaflet-tasks', 'leaflet-facts', 'leaflet-text', 'leaflet-evidence']
  const example = 'docs/examples/leaflet'
  const { printed, folder } = await paste(t, { page: `${example}/README.md`, names, example })
  const [project = '', tasks = '', facts = '', text = '', evidence = ''] = printed
  t.regex(project, /default {2}mirrors members/u)
  t.regex(tasks, /project_task_waits[^]*task leaflet:text {2}\w+ {2}bob[^]*\n {2}task leaflet:facts[^]*tasks start/u)
  t.regex(facts, /\n {2}output {6}Ferns have no flowers/u)
  t.regex(text, /task leaflet:text {2}in_progress {2}bob[^]*run run_\w+ {2}waiting_for_approval[^]*# Ferns/u)
  t.regex(readFileSync(join(folder, 'leaflet.md'), 'utf8'), /^# Ferns/u)
  t.regex(evidence, /\n {2}output {6}The leaflet is in leaflet\.md\.\n[^]*write_file[^]*Project Control[^]*completed/u)
  t.regex(evidence, /0 of 2 tasks to do/u)
})

test('the guide to projects, exactly as printed', async (t) => {
  const names = ['projects-make', 'projects-start', 'projects-again', 'projects-close']
  const { printed } = await paste(t, { page: 'docs/projects.md', names })
  const [make = '', start = '', again = '', close = ''] = printed
  t.regex(make, /roof {2}pending {6}Put on the roof {2}mason\nwall {2}pending/u)
  t.regex(
    start,
    /task shed:roof[^]*waits for the task "Build the wall", which is failed[^]*--status pending shed wall/u,
  )
  t.regex(again, /wall {2}failed[^]*roof {2}completed[^]*\n {2}output {6}The roof is on\./u)
  t.regex(close, /archived {3}A shed[^]*ended/u)
})

test('the guide to channels, exactly as printed', async (t) => {
  const names = ['channels-make', 'channels-see', 'channels-policy', 'channels-stimuli', 'channels-close']
  const { printed } = await paste(t, { page: 'docs/channels.md', names })
  const [make = '', see = '', policy = '', stimuli = '', close = ''] = printed
  t.regex(make, /ann {2}Ann {2}a person[^]*Gardener, what is ripe\?/u)
  t.regex(see, /Gardener, what is ripe\?[^]*garden {2}The garden {2}3 members {2}1 message/u)
  t.regex(policy, /paused/u)
  t.regex(stimuli, /dispatched[^]*active {2}autonomous_root/u)
  t.regex(close, /completed/u)
})
