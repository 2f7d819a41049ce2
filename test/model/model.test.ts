import test from 'ava'
import { playHistories } from './histories.js'

playHistories(test, { seed: 1, count: 1, length: 200 })
