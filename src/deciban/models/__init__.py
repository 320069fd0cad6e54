"""What every model shares: its prior, what is selected by its counts, calibration and scores."""
