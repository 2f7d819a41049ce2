import test from 'ava'
import { hostileSuite } from './hostile-suite.js'

hostileSuite(test, { strings: 144, jsons: 72, bodies: 36 })
