#!/usr/bin/env node
import '../dist/generator/bundle/main.js';
