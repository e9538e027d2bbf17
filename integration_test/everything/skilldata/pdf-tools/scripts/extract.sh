#!/bin/sh
exec pdftotext -layout "$1" -
