#!/bin/sh
# Prints each message of a log at most once a minute.
printf '%s\t%s\n' \
    2026-11-15T12:00:00Z 'disk full' \
    2026-11-15T12:00:01Z 'fan stopped' \
    2026-11-15T12:00:20Z 'disk full' \
    2026-11-15T12:00:40Z 'disk full' \
    2026-11-15T12:02:00Z 'disk full' |
    bloomery seen --window 60s --time 1 --key 2
