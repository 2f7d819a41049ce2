/** What consultations used since the start, by their purpose. */
import { createCount, type Metric } from '../../../core/plugin.js'
import type { ConsultationObserver } from './contract.js'

/** Labels are bounded: a purpose that is no word of the code, and one beyond so many, is `other`. */
const [isWord, mostWords] = [/^[a-z][a-z_]{0,31}$/u, 50]

const createWords = (): ((purpose: string) => string) => {
  const words = new Set<string>()
  return (purpose) => {
    if (isWord.test(purpose) && words.size < mostWords) words.add(purpose)
    return words.has(purpose) ? purpose : 'other'
  }
}

export const createPurposes = (): { readonly observer: ConsultationObserver; readonly metrics: readonly Metric[] } => {
  const wordOf = createWords()
  const calls = createCount({
    name: 'service_model_consultations_total',
    help: 'Model calls outside of runs that have ended since the start, by purpose, and whether there was an answer.',
    labels: ['purpose', 'result'],
  })
  const tokens = createCount({
    name: 'service_model_consultation_tokens_total',
    help: 'Tokens of model calls outside of runs since the start, by purpose and kind.',
    labels: ['purpose', 'kind'],
  })
  return {
    metrics: [calls.metric, tokens.metric],
    observer: {
      name: 'purposes',
      observe({ purpose, outcome, usage }) {
        const word = wordOf(purpose)
        calls.add(1, word, outcome)
        if (usage === undefined) return
        tokens.add(usage.input_tokens, word, 'input')
        tokens.add(usage.output_tokens, word, 'output')
      },
    },
  }
}
