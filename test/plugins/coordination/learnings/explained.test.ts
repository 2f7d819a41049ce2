/** What is told of candidates; docs/rules/learnings.md. */
import test, { type ExecutionContext } from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { createCommandLine } from '../../../support/command-line.js'
import { checkLine, readExplanation } from '../../../support/explanations.js'
import { judging, reviewed, setPolicy } from '../../../support/learning-review.js'
import { bring } from '../../../support/learnings.js'

const start = async (t: ExecutionContext) => {
  const model = judging(() => JSON.stringify({ action: 'manual_review', reason: 'It may be so.' }))
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const explain = async (id: string): Promise<any> => {
    const { subjects } = await readExplanation(daemon, id)
    for (const { commands = [] } of subjects[0].reasons) for (const command of commands) checkLine(t, command)
    return subjects[0]
  }
  return Object.assign(daemon, { explain })
}

test('learnings-27: a candidate says who is to decide, and why nothing else does', async (t) => {
  const daemon = await start(t)
  await setPolicy(daemon, { mode: 'manual_only' })
  const { candidate_id: one } = await bring(daemon, { content: 'The port of the service is 80.' })
  const by = await daemon.explain(one)
  t.like(by, { kind: 'candidate', id: one, status: 'pending' })
  t.is(by.text, 'It proposes the fact "The port of the service is 80.".')
  t.like(by.reasons, [{ code: 'people_decide', text: 'The learning policy leaves it to people.' }])
  const publish = `holdfast learnings candidates publish ${one}`
  t.deepEqual(by.reasons[0].commands, [publish, `holdfast learnings candidates reject ${one}`])
  const printed = await createCommandLine(daemon)('explain', one)
  t.regex(printed.out, /^candidate \S+ {2}pending\n {2}It proposes the fact/u)

  await daemon.request('POST', `/v1/learning-candidates/${one}/publish`, {})
  const { learning_id } = (await daemon.request('GET', '/v1/learnings')).body[0]
  const published = await daemon.explain(one)
  t.deepEqual([published.status, published.reasons], ['published', []])
  t.true(published.text.endsWith(`It became the learning ${learning_id}.`))
  const { candidate_id: other } = await bring(daemon, { content: 'The port of the service is 81.' })
  const [, conflict] = (await daemon.explain(other)).reasons
  t.is(conflict.code, 'learning_conflict')
  t.is(conflict.commands[0], `holdfast learnings candidates publish --supersedes ${learning_id} ${other}`)
})

test('learnings-27: what the policy would do, and what the judge says', async (t) => {
  const daemon = await start(t)
  const rules = [{ name: 'r', action: 'publish_provisional' }]
  await setPolicy(daemon, { mode: 'shadow', publication: { rules } })
  const noted = await reviewed(daemon, await bring(daemon, { content: 'Number 1' }))
  t.like((await daemon.explain(noted.candidate_id)).reasons, [
    {
      code: 'only_noted',
      text: 'The policy would provisionally publish it, and only notes that. The rule "r" matches.',
    },
  ])
  await setPolicy(daemon, { mode: 'enabled', publication: { rules }, judge: { enabled: true } })
  const judged = await reviewed(daemon, await bring(daemon, { content: 'Number 2' }))
  const { status, reasons } = await daemon.explain(judged.candidate_id)
  t.is(status, 'escalated')
  t.like(reasons, [{ code: 'escalated' }])
  t.true(reasons[0].text.endsWith('It may be so.'))
})
