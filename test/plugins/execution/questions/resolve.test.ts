import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { resolveQuestion } from '../../../../plugins/execution/questions/resolve.js'
import { settleOwnRun } from '../../../../plugins/execution/questions/settle.js'

test(
  'questions-13: an answer that comes when the time is over is refused and the run cancelled, although no ' +
    'timer has fired',
  async (t) => {
    const request = { id: 'question_1', questions: [], expires_at_ms: 1000 }
    const run: any = { run_id: 'run_1', status: 'waiting_for_user_question' }
    const seen: string[] = []
    const runs: any = {
      openQuestions: () => [request],
      deciderOf: () => undefined,
      answer: async () => {
        seen.push('answered')
      },
      cancelWait: async () => {
        seen.push('cancelled')
      },
    }
    const answerAt = (now: number) =>
      resolveQuestion({ runs, settler: () => settleOwnRun(runs), clock: { ...createClock(), now: () => now } }, run, {
        resolution: { request_id: 'question_1', answers: [], declined: true },
        receipt: undefined,
      })
    await answerAt(999)
    await t.throwsAsync(answerAt(1000), { code: 'question_expired' })
    t.deepEqual(seen, ['answered', 'cancelled'])
  },
)
